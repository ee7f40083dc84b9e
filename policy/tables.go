package policy

const gmReadsAll = "the GM runs the world"

func gm(form Form) rule { return rule{[]Role{GM}, form, gmReadsAll, seedFiles} }

func gmOnly(reason string) []rule {
	return []rule{gm(Whole), {[]Role{Player, JournalKeeper, Spectator}, "", reason, tableSecrets}}
}

// worldRows are what the GM keeps.
func worldRows() []row {
	secret := "GM-only by default"
	return []row{
		{StoryState, familyTable, "story-state.md", []rule{
			gm(Whole), {[]Role{Player, JournalKeeper, Spectator}, "", "the GM's secrets; never read by a player", seedFiles}}},
		{GMContext, familyTable, "tmp/gm-context.md", []rule{
			gm(Whole), {[]Role{Player, JournalKeeper, Spectator}, "", "the GM's own plans across hand-offs", seedFiles}}},
		{Beats, familyTable, "beats/", gmOnly("the GM's plan of the session")},
		{NPCs, familyTable, "npcs/", gmOnly("what others hide is the GM's")},
		{Factions, familyTable, "factions/", gmOnly(secret)},
		{Locations, familyTable, "locations/", gmOnly(secret)},
		{Items, familyTable, "items/", gmOnly(secret)},
		{DecisionLog, familyTable, "decision-log.md", gmOnly("it is written with the story state in view")},
		{Overview, familyTable, "overview.md", gmOnly(secret)},
		{Preferences, familyTable, "preferences.md", gmOnly("it names the human's seat")},
		{Deltas, familyTable, "tmp/*-delta.md", gmOnly("changes of the GM's files")},
		{Scenes, familyTable, "scenes/", gmOnly("not on the player's list; the narrative reaches it by audience")},
		{TableOther, familyTable, "any other file of a campaign", gmOnly("a new file is GM-only until a rule says otherwise")},
		{DiceOpen, familyTable, "open rolls", []rule{
			{tableRoles(), Whole, "every number at the table can be checked", tableDice}}},
		{DiceSealed, familyTable, "numbers of sealed rolls", []rule{
			gm(Whole), {[]Role{Player, JournalKeeper, Spectator}, "", "sealed until revealed; only that a roll was made is shown", tableDice}}},
		{DiceSeed, familyTable, "the dice seed", []rule{
			{tableRoles(), "", "it never reaches any seat before it is revealed", tableDice}}},
	}
}

// seatRows are what belongs to characters and to the party.
func seatRows() []row {
	notMine := "another character's everything is GM-only"
	keeper := "a journal keeper reads narrative, own notes and own journal"
	watcher := "a spectator sees what the whole party saw"
	rest := func(reason string) rule {
		return rule{[]Role{Player, JournalKeeper, Spectator}, "", reason, tableSecrets}
	}
	noWatcher := deny(Spectator, watcher, denyByDefault)
	return []row{
		{OwnSheet, familyTable, "the character's own sheet", []rule{
			gm(Whole),
			only(Player, Reduced, "its own sheet, without the regions marked for the GM", seedFiles),
			deny(JournalKeeper, keeper, seedFiles), noWatcher}},
		{OtherSheet, familyTable, "another character's sheet", []rule{gm(Whole), rest(notMine)}},
		{Brief, familyTable, "party/*-brief.md", []rule{gm(Whole), rest("not on the player's list")}},
		{OwnJournal, familyTable, "the character's own journal", []rule{
			deny(GM, "a journal is its character's; not the GM's by default", tableJournals),
			only(Player, Whole, "its own memory", seedFiles),
			only(JournalKeeper, Whole, "what it appends to", seedFiles), noWatcher}},
		{OtherJournal, familyTable, "another character's journal", []rule{
			deny(GM, "a journal is its character's; not the GM's by default", tableJournals), rest(notMine)}},
		{OwnPrompt, familyTable, "the prompt to this character", []rule{
			gm(Whole), only(Player, Whole, "the GM's request to it", seedFiles),
			deny(JournalKeeper, keeper, seedFiles), noWatcher}},
		{OtherPrompt, familyTable, "the prompt to another character", []rule{gm(Whole), rest(notMine)}},
		{OwnResponse, familyTable, "this character's response", []rule{
			gm(Whole), deny(Player, "not on the player's list; it said it itself", seedFiles),
			deny(JournalKeeper, keeper, seedFiles), noWatcher}},
		{OtherResponse, familyTable, "another character's response", []rule{
			gm(Whole), rest("answers are sealed; what became of them is in the narrative")}},
		{OwnNotes, familyTable, "this character's notes for the journal", []rule{
			deny(GM, "inner notes are the journal's raw matter", tableJournals),
			deny(Player, "not on the player's list; it wrote them itself", seedFiles),
			only(JournalKeeper, Whole, "it reads them and then they are gone", seedFiles), noWatcher}},
		{OtherNotes, familyTable, "another character's notes", []rule{
			deny(GM, "inner notes are the journal's raw matter", tableJournals), rest(notMine)}},
		{PartyKnowledge, familyTable, "party-knowledge.md", []rule{
			gm(Whole), only(Player, Whole, "what the party knows together", seedFiles),
			deny(JournalKeeper, keeper, seedFiles), noWatcher}},
		{WorldPrimer, familyTable, "world-primer.md", []rule{
			gm(Whole), only(Player, Whole, "common knowledge of the world", tableSecrets),
			deny(JournalKeeper, keeper, seedFiles),
			only(Spectator, Whole, "common knowledge of the world", tableSecrets)}},
		{NarrativeParty, familyTable, "narrative for the whole party", []rule{
			{tableRoles(), Whole, "everyone present heard it", tableSecrets}}},
		{JournalNarrative, familyTable, "tmp/narrative-for-journal.md", []rule{
			gm(Whole), deny(Player, "a file for the journal keepers; what it tells was heard", seedFiles),
			only(JournalKeeper, Whole, "it is kept for the journal", seedFiles), noWatcher}},
		{NarrativePrivateOwn, familyTable, "narrative for this character among a few", []rule{
			gm(Whole),
			{[]Role{Player, JournalKeeper}, Whole, "the character is in its audience", tableSecrets}, noWatcher}},
		{NarrativePrivateElse, familyTable, "narrative for others only", []rule{
			gm(Whole), rest("the character is not in its audience")}},
		{NarrativeGM, familyTable, "narrative for the GM alone", []rule{gm(Whole), rest("kept by the GM")}},
	}
}

// ownRows are what no seat is given, whatever it plays.
func ownRows() []row {
	nobody := func(reason, source string) []rule { return []rule{{Roles(), "", reason, source}} }
	return []row{
		{EnginePrivate, familyOwn, ".conclave/ – records, locks, databases", nobody("engine files enter no room", engineRuling)},
		{GitDirectory, familyOwn, ".git and other version control", nobody("it holds old versions of everything; history is given as text", engineRuling)},
		{AgentSettings, familyOwn, "settings, hooks and memories of agent programs, conclave.yaml", nobody("settings would bring context and commands of their own", engineRuling)},
		{Credentials, familyOwn, "keys and logins: .env, .netrc, .ssh, id_rsa, a *.pem with a private key …", nobody("they are in nobody's room; only the person can grant one, by its name", keyOutside)},
		{Unknown, familyOwn, "anything else", nobody("what has no kind is denied", denyByDefault)},
	}
}
