// Package nearest finds the word that somebody may have meant: of those that
// there are, the one that the fewest letters tell from what was written.
package nearest

// most is how many letters may differ.
const most = 2

// Of is the word that is meant, "" if none is near. Of two that are as near the
// first one wins.
func Of(word string, known []string) string {
	best, least := "", most+1
	for _, k := range known {
		if d := Distance(word, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// maxWord bounds what is compared: whatever is longer is no slip of the hand.
const maxWord = 256

// Distance is how many letters must change, come or go to make one word another;
// two that changed places count as one.
func Distance(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return max(len(a), len(b))
	}
	s, t := []rune(a), []rune(b)
	var before, last []int
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(s); i++ {
		before, last, row = last, row, make([]int, len(t)+1)
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(t)]
}
