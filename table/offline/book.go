package offline

// beat is one step of the adventure as the game master tells it.
type beat struct {
	scene   string // title | place and time
	opening string
	// ask is what every character is asked; a secret beat asks each alone,
	// by its slug.
	kind   string
	just   string
	ask    string
	secret map[string]string
	roll   roll
	// won and lost are told when the dice have fallen, or won alone when
	// there is nothing to roll.
	won, lost string
}

type roll struct {
	expr, purpose string
	dc            int
}

// book is the adventure of fallow-weir.
var book = []beat{
	{
		scene:   "The Dark Lamp | Fallow Weir, at dusk",
		opening: "The rain thins as the river road comes out of the trees, and there is the weir: a long black wall with the water sliding over it, a house at one end, a mill at the other, and above the house an iron arm with a lamp on it. The lamp is dark. Its glass has been polished. Somebody trimmed the wick and did not light it.\n\nThe door is on the latch. The stove is cold, the bed is made, and by the door, under glass, hangs the certificate of the weir with a seal on it. On the table lies a letter that somebody began and did not finish. *Dear Tam*, it says.",
		kind:    "QUICK_REACTION",
		just:    "You have stepped into the keeper's house. Nobody is here. You have all read the letter on the table: Dear Tam, it begins, and no more. From the far end of the weir, in the mill, something falls over.",
		ask:     "One or two sentences: what do you look at first, and what do you do when you hear it?",
		roll:    roll{"1d20+2", "crossing the weir in the half-dark", 11},
		won:     "They go along the top of the weir one behind the other, and nobody slips. The mill door stands a hand open. It has gone quiet inside, the way a room is quiet when somebody in it has stopped breathing.",
		lost:    "They go along the top of the weir one behind the other; halfway a foot goes out from under somebody, a hand catches a sleeve, and a lantern goes into the river and is gone. When they reach the mill it has gone quiet inside, the way a room is quiet when somebody in it has stopped breathing.",
	},
	{
		scene:   "The Mill Loft | the mill, after dark",
		opening: "Behind the hopper stand six barrels, each tied with the same neat knot. The boards overhead creak, and then a boat-hook comes down out of the dark, and behind it a face: a woman of sixty, grey with pain, one leg bound to a broom handle.\n\n\"Don't help me up,\" says Hanna Thrale. \"Help me think. They open the upper lock by night, a hand at a time, and the meadows drown, and then he buys them. I put the lamp out so the boats would keep away. And tonight is the moon.\"",
		kind:    "SECRET_ACTION",
		just:    "For a moment nobody is watching you.",
		secret: map[string]string{
			"ysolde-marrow": "You are standing beside the barrels, and you know that knot. What do you do about it, if anything?",
			"corin-vale":    "The certificate is inside your coat: you took it off the wall when you went out. What do you do with it, if anything?",
			"bram-oatley":   "Hanna's eyes have been on your cassock since you came in. She is within reach of a whisper. What do you say to her, if anything?",
		},
		ask: "Whatever you do here, only you and the game master know of it. Two or three sentences.",
		won: "Far up the river there is a sound like a door being dragged over stone. Hanna shuts her eyes. \"That is more than a hand,\" she says.",
	},
	{
		scene:   "The Upper Lock | a quarter of a mile up, moonrise",
		opening: "Two men are at the windlass with a shuttered lantern between them. One of them sees the party, lets go of the handle, and looks as if he had been hoping that somebody would come. The other does not let go. Under the planks the water has found its voice.",
		kind:    "COMBAT_ACTION",
		just:    "Pike has stepped back. Lemmer puts his shoulder to the handle again and says: \"Go home.\"",
		ask:     "Declare your action for this moment: talk, hold, row, climb or fight. Say what you are trying to bring about.",
		roll:    roll{"1d20+3", "stopping the windlass", 13},
		won:     "It is over quickly and nobody is proud of it. Pike drops the pawl into the wheel with his own hand and sits down in the mud. The gate stands half open and will go no further; but what has gone through has gone through, and it is on its way down to the weir in the dark.",
		lost:    "The windlass turns twice more before they have him away from it. Then the handle snaps round, free, and breaks, and the gate stands open to its full height. Nobody says anything. They run.",
	},
	{
		scene:   "The Third Sluice | the weir, an hour before midnight",
		opening: "The weir is making a sound that stone should not make. Along its whole length the water is up to the walk. Behind the iron of the third sluice something weeps, and then runs. Down the river, a mile away, there are forty roofs and a light in the first house by the water.",
		kind:    "FULL_CONTEXT",
		just:    "There is time for one thing. The second sluice can be opened, and the water will take the mill instead of the village. Or the oil in the barrels can go back into the lamp, and the lamp be lit, and held steady, and then it depends on whether there is one honest person at the other lock. Or the third sluice can be shored, if somebody goes down to it.",
		ask:     "What do you do, and what do you say while you do it? If there is something you have not told the others, this is the last good moment.",
		roll:    roll{"1d20+4", "against the water", 14},
		won:     "It takes all of them, and it takes a quarter of an hour that none of them will be able to describe. There is oil on somebody's hands and blood on somebody's rope. Then the note of the water changes. It drops. The lamp burns over Fallow Weir, and far up the river, very small, another lamp answers it.",
		lost:    "It takes all of them and it is not enough. The third sluice goes with a sound like a cough. But the second is open by then, and it is the mill that the river takes, wheel, hopper and loft, and not the village; and when the wave has gone by there are still forty roofs, standing in a foot of water, with people on them who are shouting, which is to say alive.",
	},
	{
		scene:   "Morning | Fallow Weir, at sunrise",
		opening: "The sun comes up on brown water and a great deal of straw. Hanna has been carried out to the bench by the door. She has the ledger on her knees; it is wet through and every line can be read. Nine days to the assize.\n\n\"Somebody is going to have to take this down the river,\" she says, \"and somebody is going to have to read me a letter that I think is mine.\"",
		kind:    "QUICK_REACTION",
		just:    "It is morning. Nobody has slept. There is bread.",
		ask:     "One or two sentences: what do you do with your hands now, and what do you say, if you say anything?",
		won:     "They stay until the boats come, because somebody has to catch the ropes. At dusk the lamp is lit. It is a small thing, and it can be seen for eleven miles.\n\nThis is the end of *The Lamp at Fallow Weir*.",
	},
}
