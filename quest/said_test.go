package quest

import (
	"strings"
	"testing"

	"conclave/policy"
	"conclave/profile"
)

func lines(text string) []string { return strings.Split(strings.Trim(text, "\n"), "\n") }

const agreeing = `
yes
Yes.
y
yep
Yeah!
aye
yes, please
ok
OK.
okay
okay then
alright
all right
sure
of course
agreed
Agreed!
I agree
we agree
I agree with that
fine
fine by me
good
good enough
great, thanks
perfect
excellent
right
that's right
That’s right.
that is right
it is right
It's right, thank you
that's it
yes, that's it
that's exactly it
correct
exactly
absolutely
looks good
looks good to me
LGTM
sounds good
That sounds good, Gandalf
works for me
go ahead
ok, go ahead
go for it
let's go
let's do it
lets do this
do it
ship it
I'm happy with that
I like it
I love it
these are the criteria
Yes, these are the criteria
no changes
nothing to add
no objections
leave it as it is
very well, so be it
👍
+1
yes yes
hmm, ok
write it down
why not
`

const notAgreeing = `
no
nope
not ok
not yet
not quite right
it is not right
that's not it
it isn't right
I don't agree
I do not agree to 2
ok but change 2
ok, but change 2
yes, but shorter
yes but drop the third
yes and add a test
good, now add a README
fine except for 3
looks good apart from the name
almost
almost right
is it right?
right?
is that ok?
ok?
yes?
agreed on 1, not on 2
I agree in principle
maybe
I am not sure
sure about 2?
drop 2
2
add: a licence
name: Other
why: because
the dragon is fog
let me think
go back
start over
wait
stop
never
yes, no
no, yes I mean no
right after Friday
perfect is the enemy of good
done means that it runs
`

func TestAgrees(t *testing.T) {
	yes, no := lines(agreeing), lines(notAgreeing)
	if len(yes)+len(no) < 60 || len(no) < 25 {
		t.Fatalf("%d and %d phrases are too few", len(yes), len(no))
	}
	for _, s := range yes {
		if !Agrees(s) {
			t.Errorf("%q does not agree", s)
		}
	}
	for _, s := range append(no, "", "  ", "\n", "please", "thanks", "then now so") {
		if Agrees(s) {
			t.Errorf("%q agrees", s)
		}
	}
}

// wishes are what is said, and what is understood; "-" for nothing.
const wishes = `
I'm ready to face the dragon = confront
I’m ready to face the Dragon! = confront
im ready to face the dragon = confront
I am ready to face the dragon now = confront
We're ready to face the dragon = confront
ok, I'm ready to face the dragon = confront
I think I am ready to face the dragon = confront
I'm finally ready for the dragon = confront
Ready to face the dragon = confront
let's face the dragon = confront
Let us fight the Dragon = confront
face the dragon = confront
time to face the dragon = confront
I want to face the dragon = confront
I'd like to challenge the dragon, please = confront
bring on the dragon = confront
can we face the dragon now? = confront
all criteria are met = confront
all the success criteria are met = confront
I'm ready for the confrontation = confront
let's face the ancient wyrm = confront
I'm not ready to face the dragon yet = -
I am not ready for the dragon = -
the dragon is scary = -
the dragon = -
I'm ready = -
what is the dragon? = -
who is the dragon afraid of? = -
I don't want to face the dragon = -
let's face the dragon next week, after the release = -
before I face the dragon I want to sleep = -
we faced the dragon = -
let's face it = -
am I ready to face the dragon? = readiness
are we ready for the dragon? = readiness
Am I ready? = readiness
should we face the dragon? = readiness
do you think I'm ready to face the dragon? = readiness
I'm ready for a checkpoint = checkpoint
I'm ready for the checkpoint now = checkpoint
we are ready for a guardian checkpoint = checkpoint
ready for the guardian = checkpoint
let's hold a checkpoint = checkpoint
let's do a checkpoint = checkpoint
I want a checkpoint = checkpoint
checkpoint, please = checkpoint
ask the guardian = checkpoint
let the guardian look at my work = checkpoint
ask the sentinel to check this = checkpoint
time for a checkpoint = checkpoint
I'm not ready for a checkpoint = -
the checkpoint failed = -
what is a checkpoint? = -
no checkpoint yet = -
let's hold a council = council
let's have a council = council
call the council = council
convene the council = council
I want a council = council
council please = council
what does everyone think? = council
what does the party think about the release? = council
ask everyone = council
the council was wrong = -
not another council = -
what does the cat think? = consult cat
What does the Cat think about the release? = consult cat
what would owl say? = consult owl
ask the cat = consult cat
ask the cat about the release = consult cat
let's hear the wolf = consult wolf
I want to talk to the owl = consult owl
can I talk to the bear? = consult bear
let me hear the puppy = consult puppy
what does the rogue think? = consult cat
talk to the rogue = consult cat
I need the rabbit's advice = consult rabbit
what does gandalf think? = gandalf gandalf
ask Gandalf = gandalf gandalf
I need advice = gandalf gandalf
talk to simon = consult simon
the cat is right = -
my cat sat on the keyboard = -
bear with me = -
I asked the cat = -
don't ask the cat = -
the owl said Friday = -
let's debrief = debrief
let's look back = debrief
I'm ready for the debrief = debrief
back to work = work
let's get back to work = work
I'll continue working = work
I don't want to get back to work = -
let's return to the quest = return
show me the quest = review
where do we stand? = review
let's start a quest = start
I want to start a new quest tomorrow = -
I'm done = done
I'm done for today = done
we are finished = done
that's all = done
that will be all, thanks = done
bye = done
good night = done
enough for today = done
I'm done with the API = -
I'm not done = -
the tests are done = -
done = -
no = -
later = -
cat = -
`

const menuWishes = `
done = done
later = done
not now = done
no, thanks = done
nothing = done
stop = done
cat = consult cat
the rogue = consult cat
what about the owl? = consult owl
no idea = -
not now, the build is red = -
`

func dressedFace(t *testing.T) func(policy.Role) profile.Face {
	return func(who policy.Role) profile.Face {
		skins := map[policy.Role]string{policy.Cat: "The Rogue", policy.Dragon: "The Ancient Wyrm", policy.Guardian: "The Sentinel"}
		return face(t, string(who), skins[who])
	}
}

func TestUnderstand(t *testing.T) {
	all := lines(wishes)
	if len(all) < 80 {
		t.Fatalf("%d phrases are too few", len(all))
	}
	for _, menu := range []bool{false, true} {
		list := all
		if menu {
			list = lines(menuWishes)
		}
		for _, line := range list {
			said, want, ok := strings.Cut(line, " = ")
			if !ok {
				t.Fatalf("%q is no line of the list", line)
			}
			w, understood := Understand(said, menu, dressedFace(t))
			got := strings.TrimSpace(string(w.Action) + " " + string(w.Who))
			if w.Action == ActReadiness {
				got = string(w.Action)
			}
			if !understood {
				got = "-"
			}
			if got != want {
				t.Errorf("%q is understood as %q, want %q", said, got, want)
			}
		}
	}
	if _, ok := Understand("let's face the ancient wyrm", false, nil); ok {
		t.Error("a name that nobody bears was understood")
	}
	if w, _ := Understand("what does the cat think?", false, nil); !w.Says {
		t.Error("a question to the Cat says nothing to it")
	}
	if w, _ := Understand("talk to the cat", false, nil); w.Says {
		t.Error("talk to the cat is said to the Cat")
	}
}

// TestTriggersAreWholeWords: the words of Q6, quoted files, diffs and fences.
func TestTriggersAreWholeWords(t *testing.T) {
	for _, text := range []string{
		"The plane lands at noon", "It is licensed under MIT", "The variable is scoped", "I want to publish the tool",
		"lateral thinking", "a costume party", "teamster", "weekly", "Failsafe",
		"What is this?\n```\nrisk risk deadline\n```\n", "Look:\n> the deadline is a risk\nWell?", "See `risk.go` and docs/deadline.md",
		"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-the risk\n+the deadline\n budget\n",
		"Here:\n\n    the risk of a deadline\n",
	} {
		if got := FirstAdvisor(text); got.Reason != "a first look at the direction" {
			t.Errorf("%q calls for %+v", text, got)
		}
	}
	for _, c := range []struct {
		said, advised string
		want          policy.Role
	}{
		{"Is it safe?", "There is a risk and a deadline and a budget.", policy.Cat}, // the advisor's words trigger nothing
		{"The budget is gone", "", policy.Rabbit},
		{"Is it safe?", "Bear in mind that it rains.", policy.Cat},
		{"Is it safe?", "When you have answered that, hear the Wolf: others have a say.", policy.Wolf},
		{"Should I ask the owl?", "Hear the Wolf.", policy.Owl},
		{"```\nask the wolf about the budget\n```\nWell?", "", policy.Cat},
	} {
		if got := NextPerspective(policy.Bear, c.said, c.advised, nil); got.Who != c.want {
			t.Errorf("after %q and %q: %+v, want %s", c.said, c.advised, got, c.want)
		}
	}
}

func TestALabelThatIsDeniedIsNotChosen(t *testing.T) {
	offers := Offers(AfterConsultation, OfferContext{})
	for _, answer := range []string{"I don't want to continue working", "before I continue working I want to know why"} {
		if c, err := Choose(offers, answer); err != nil || c.Offer != nil {
			t.Errorf("%q chooses %+v, %v", answer, c.Offer, err)
		}
	}
}
