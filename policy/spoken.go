package policy

// spokenRows are what was said, judged and worn in a quest.
func spokenRows() []row {
	noTranscripts := evaluators("transcripts contain party reasoning", seedTranscript)
	return []row{
		{ConversationAnimals, familyQuest, "conversations with the six animals", []rule{
			party(whole), only(Gandalf, whole, "he reads the animals', the council's and his own", profiles), noTranscripts,
		}},
		{ConversationCouncil, familyQuest, "conversations of the council", []rule{
			party(whole), only(Gandalf, whole, "he reads the animals', the council's and his own", profiles), noTranscripts,
		}},
		{ConversationSimon, familyQuest, "debriefs and reflections with Simon, filed as council", []rule{
			party(whole), deny(Gandalf, "a debrief goes through the Dragon's verdict", profiles), noTranscripts,
		}},
		{ConversationGandalf, familyQuest, "conversations with Gandalf", []rule{
			party(whole), only(Gandalf, whole, "his own", profiles),
			evaluators("the mentor's counsel must not reach an evaluator", seedIsolation),
		}},
		{ConversationGuardian, familyQuest, "conversations with the Guardian", []rule{
			party(whole), deny(Gandalf, "Guardian results and feedback are withheld", profiles),
			deny(Guardian, "each checkpoint stands alone: no earlier results", seedIsolation),
			deny(Dragon, "Guardian results are withheld", profiles),
		}},
		{ConversationDragon, familyQuest, "conversations with the Dragon", []rule{
			party(whole), deny(Gandalf, "the Dragon's assessments are withheld", profiles),
			deny(Guardian, "how the Dragon assesses is withheld", profiles),
			deny(Dragon, "each confrontation stands alone: no earlier results", profiles),
		}},
		{ConversationOther, familyQuest, "files among the conversations that name no known agent", []rule{
			party(whole), deny(Gandalf, "whose it is cannot be told", denyByDefault), noTranscripts,
		}},
		{verdictGuardian, familyQuest, "Guardian verdicts", []rule{
			party(whole), deny(Gandalf, "Guardian results and feedback are withheld", profiles),
			deny(Guardian, "earlier results would add up to a bias", seedIsolation),
			deny(Dragon, "Guardian results are withheld", profiles),
		}},
		{verdictDragon, familyQuest, "Dragon verdicts, criterion by criterion", []rule{
			only(Simon, whole, "he debriefs on the verdict", profiles),
			party(whole), deny(Gandalf, "criterion-by-criterion assessments are withheld", profiles),
			deny(Guardian, "how the Dragon assesses is withheld", profiles),
			deny(Dragon, "earlier results are withheld", profiles),
		}},
		{VerdictOwn, familyQuest, "the evaluator's own verdict that stands, in a discussion of it", []rule{
			party(whole), deny(Gandalf, "verdicts are withheld", profiles),
			{[]Role{Guardian, Dragon}, whole, "its own words, after they were committed; they cannot be changed", personChannel},
		}},
		{CouncilReport, familyQuest, "council-report.md", []rule{
			party(whole), only(Gandalf, whole, "it is the council's word", profiles),
			evaluators("the council reasons about the party's way", profiles),
		}},
		{CouncilSeats, familyQuest, "what the other seats of the running council say", []rule{
			only(Simon, whole, "he brings the six together", profiles),
			deny(Council, "the six look alone, so that six voices are six", blindCouncil),
			{Animals(), "", "a running council is not a conversation yet", blindCouncil},
			deny(Gandalf, "a running council is not a conversation yet", blindCouncil),
			evaluators("the council reasons about the party's way", profiles),
		}},
		{OwnProfile, familyQuest, "the profile the role wears", []rule{
			{questRoles(), whole, "it says how to appear, never what to know", profiles},
		}},
		{OtherProfile, familyQuest, "profiles the others wear", []rule{
			party(whole), only(Gandalf, whole, "he sets the characters up", profiles),
			evaluators("it needs no word about the party", denyByDefault),
		}},
	}
}
