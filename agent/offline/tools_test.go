package offline

import (
	"slices"
	"testing"
)

// TestFinishedIn: only a plain statement of the person's is a report.
func TestFinishedIn(t *testing.T) {
	for words, want := range map[string][]string{
		"I finished the API design.":                            {"I finished the API design"},
		"We've just merged the parser. What is next?":           {"We've just merged the parser"},
		"Hello. The roof is done!":                              {"The roof is done"},
		"I have completed chapter two\nand I am tired.":         {"I have completed chapter two"},
		"The first chapter is finally finished. So what?":       {"The first chapter is finally finished"},
		"Is the API done?":                                      nil,
		"I have not finished the API design.":                   nil,
		"When I finished the draft I slept.":                    nil,
		"The roof isn't done.":                                  nil,
		"The roof is almost done.":                              nil,
		"I think the roof is done.":                             nil,
		"If the roof is done, we move in.":                      nil,
		"I want the tests finished":                             nil,
		"Who finished it?":                                      nil,
		"I wonder what is done":                                 nil,
		"> I finished the API":                                  nil,
		"```\nI finished the API\n```":                          nil,
		"The report says “I finished it”":                       nil,
		"The job is done by a cron script":                      nil,
		"I will be done on Friday. It should be finished then.": nil,
		"Nothing is done":                                       nil,
		"":                                                      nil,
	} {
		if got := finishedIn(words); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
