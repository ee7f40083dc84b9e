package policy

const gmReadsAll = "the GM runs the world"

func gm(form Form) rule { return rule{[]Role{GM}, form, gmReadsAll, seedFiles} }

func gmOnly(reason string) []rule {
	return []rule{gm(whole), {[]Role{Player, JournalKeeper, Spectator}, "", reason, tableSecrets}}
}

// worldRows are what the GM keeps.
func worldRows() []row {
	secret := "GM-only by default"
	return []row{
		{storyState, familyTable, "story-state.md", []rule{
			gm(whole), {[]Role{Player, JournalKeeper, Spectator}, "", "the GM's secrets; never read by a player", seedFiles}}},
		{gmContext, familyTable, "tmp/gm-context.md", []rule{
			gm(whole), {[]Role{Player, JournalKeeper, Spectator}, "", "the GM's own plans across hand-offs", seedFiles}}},
		{beats, familyTable, "beats/", gmOnly("the GM's plan of the session")},
		{npcs, familyTable, "npcs/", gmOnly("what others hide is the GM's")},
		{factions, familyTable, "factions/", gmOnly(secret)},
		{locations, familyTable, "locations/", gmOnly(secret)},
		{items, familyTable, "items/", gmOnly(secret)},
		{decisionLog, familyTable, "decision-log.md", gmOnly("it is written with the story state in view")},
		{overview, familyTable, "overview.md", gmOnly(secret)},
		{preferences, familyTable, "preferences.md", gmOnly("it names the human's seat")},
		{deltas, familyTable, "tmp/*-delta.md", gmOnly("changes of the GM's files")},
		{scenes, familyTable, "scenes/", gmOnly("not on the player's list; the narrative reaches it by audience")},
		{TableOther, familyTable, "any other file of a campaign", gmOnly("a new file is GM-only until a rule says otherwise")},
		{diceOpen, familyTable, "open rolls", []rule{
			{tableRoles(), whole, "every number at the table can be checked", tableDice}}},
		{diceSealed, familyTable, "numbers of sealed rolls", []rule{
			gm(whole), {[]Role{Player, JournalKeeper, Spectator}, "", "sealed until revealed; only that a roll was made is shown", tableDice}}},
		{diceSeed, familyTable, "the dice seed", []rule{
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
		{ownSheet, familyTable, "the character's own sheet", []rule{
			gm(whole),
			only(Player, reduced, "its own sheet, without the regions marked for the GM", seedFiles),
			deny(JournalKeeper, keeper, seedFiles), noWatcher}},
		{otherSheet, familyTable, "another character's sheet", []rule{gm(whole), rest(notMine)}},
		{appearanceBrief, familyTable, "party/*-brief.md", []rule{gm(whole), rest("not on the player's list")}},
		{OwnJournal, familyTable, "the character's own journal", []rule{
			deny(GM, "a journal is its character's; not the GM's by default", tableJournals),
			only(Player, whole, "its own memory", seedFiles),
			only(JournalKeeper, whole, "what it appends to", seedFiles), noWatcher}},
		{OtherJournal, familyTable, "another character's journal", []rule{
			deny(GM, "a journal is its character's; not the GM's by default", tableJournals), rest(notMine)}},
		{ownPrompt, familyTable, "the prompt to this character", []rule{
			gm(whole), only(Player, whole, "the GM's request to it", seedFiles),
			deny(JournalKeeper, keeper, seedFiles), noWatcher}},
		{otherPrompt, familyTable, "the prompt to another character", []rule{gm(whole), rest(notMine)}},
		{ownResponse, familyTable, "this character's response", []rule{
			gm(whole), deny(Player, "not on the player's list; it said it itself", seedFiles),
			deny(JournalKeeper, keeper, seedFiles), noWatcher}},
		{otherResponse, familyTable, "another character's response", []rule{
			gm(whole), rest("answers are sealed; what became of them is in the narrative")}},
		{OwnNotes, familyTable, "this character's notes for the journal", []rule{
			deny(GM, "inner notes are the journal's raw matter", tableJournals),
			deny(Player, "not on the player's list; it wrote them itself", seedFiles),
			only(JournalKeeper, whole, "it reads them and then they are gone", seedFiles), noWatcher}},
		{OtherNotes, familyTable, "another character's notes", []rule{
			deny(GM, "inner notes are the journal's raw matter", tableJournals), rest(notMine)}},
		{partyKnowledge, familyTable, "party-knowledge.md", []rule{
			gm(whole), only(Player, whole, "what the party knows together", seedFiles),
			deny(JournalKeeper, keeper, seedFiles), noWatcher}},
		{worldPrimer, familyTable, "world-primer.md", []rule{
			gm(whole), only(Player, whole, "common knowledge of the world", tableSecrets),
			deny(JournalKeeper, keeper, seedFiles),
			only(Spectator, whole, "common knowledge of the world", tableSecrets)}},
		{narrativeParty, familyTable, "narrative for the whole party", []rule{
			{tableRoles(), whole, "everyone present heard it", tableSecrets}}},
		{journalNarrative, familyTable, "tmp/narrative-for-journal.md", []rule{
			gm(whole), deny(Player, "a file for the journal keepers; what it tells was heard", seedFiles),
			only(JournalKeeper, whole, "it is kept for the journal", seedFiles), noWatcher}},
		{NarrativePrivateOwn, familyTable, "narrative for this character among a few", []rule{
			gm(whole),
			{[]Role{Player, JournalKeeper}, whole, "the character is in its audience", tableSecrets}, noWatcher}},
		{narrativePrivateElse, familyTable, "narrative for others only", []rule{
			gm(whole), rest("the character is not in its audience")}},
		{narrativeGM, familyTable, "narrative for the GM alone", []rule{gm(whole), rest("kept by the GM")}},
	}
}

// ownRows are what no seat is given, whatever it plays.
func ownRows() []row {
	nobody := func(reason, source string) []rule { return []rule{{Roles(), "", reason, source}} }
	return []row{
		{EnginePrivate, familyOwn, ".conclave/ – records, locks, databases", nobody("engine files enter no room", engineRuling)},
		{GitDirectory, familyOwn, ".git and other version control",
			nobody("it holds old versions of everything; history is given as text", engineRuling)},
		{AgentSettings, familyOwn, "settings, hooks and memories of agent programs, conclave.yaml",
			nobody("settings would bring context and commands of their own", engineRuling)},
		{Credentials, familyOwn, "keys and logins: .env, .netrc, .ssh, id_rsa, a *.pem with a private key …",
			nobody("they are in nobody's room; only the person can grant one, by its name", keyOutside)},
		{Unknown, familyOwn, "anything else", nobody("what has no kind is denied", denyByDefault)},
	}
}
