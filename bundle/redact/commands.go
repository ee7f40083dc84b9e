package redact

import "bytes"

// commandRules find what is typed after a command's flag or stands in a file
// of logins, where no name says what it is.
func commandRules() []rule {
	return []rule{
		{"machine", true, matchNetrc},
		{" -u", true, after([]string{"curl", "wget", "http"}, false, matchLogin)},
		{" --user", true, after([]string{"curl", "wget", "http"}, false, matchLogin)},
		{" -p", true, after([]string{"mysql", "mariadb"}, true, matchWord)},
		{" -p", true, after([]string{"sshpass", "docker login", "podman login"}, false, matchWord)},
		{" -a", true, after([]string{"redis-cli"}, false, matchWord)},
	}
}

// commandReach is how far before a flag its command is looked for.
const commandReach = 300

// after wants one of the commands before the flag, on the same line; tight says
// that the value follows without a space.
func after(commands []string, tight bool, match func(s *scan, from int) (span, bool)) func(*scan, int, int) (span, bool) {
	return func(s *scan, at, end int) (span, bool) {
		line := s.src[max(0, at-commandReach):at]
		line = line[bytes.LastIndexByte(line, '\n')+1:]
		for _, c := range commands {
			if !bytes.Contains(line, []byte(c)) {
				continue
			}
			from := end
			if !tight {
				from = skipBlanks(s.src, end)
				if from < len(s.src) && s.src[from] == '=' {
					from++
				}
			}
			return match(s, from)
		}
		return span{}, false
	}
}

// field is the word at i, without quotes around it.
func field(src []byte, i int) (start, end int) {
	start, _ = skipQuotes(src, i)
	end = start
	for end < len(src) && src[end] > ' ' && !isQuote(src[end]) && src[end] != '\\' {
		end++
	}
	return start, end
}

// matchLogin removes the password of name:password.
func matchLogin(s *scan, from int) (span, bool) {
	start, end := field(s.src, from)
	colon := bytes.IndexByte(s.src[start:end], ':')
	if colon < 1 {
		return span{}, false
	}
	return password(s, start+colon+1, end)
}

func matchWord(s *scan, from int) (span, bool) {
	start, end := field(s.src, from)
	return password(s, start, end)
}

func password(s *scan, start, end int) (span, bool) {
	p := s.src[start:end]
	if len(p) < 4 || dull(p) || p[0] == '<' || p[0] == '-' || s.spare[string(p)] {
		return span{}, false
	}
	return span{start, end, "password", rankHeader}, true
}

// matchNetrc removes the password of "machine H login L password P", on one
// line or on several, also as they stand in JSON.
func matchNetrc(s *scan, at, after int) (span, bool) {
	if !border(s.src, at) {
		return span{}, false
	}
	word := func(i int) (start, end int) {
		if start = skipSpace(s.src, i); start == i {
			return i, i
		}
		return field(s.src, start)
	}
	_, i := word(after) // the host
	for range 3 {
		start, end := word(i)
		value, stop := word(end)
		switch string(s.src[start:end]) {
		case "password":
			return password(s, value, stop)
		case "login", "account":
			i = stop
		default:
			return span{}, false
		}
	}
	return span{}, false
}

// skipSpace skips blanks and newlines, also those of JSON in JSON and of a
// diff.
func skipSpace(src []byte, i int) int {
	for n := 0; i < len(src) && n < 64; n++ {
		j := i
		for j < len(src) && j < i+8 && src[j] == '\\' {
			j++
		}
		switch {
		case j > i && j < len(src) && (src[j] == 'n' || src[j] == 'r' || src[j] == 't'):
			i = j + 1
		case j == i && src[i] == '+' && i > 0 && (src[i-1] == '\n' || src[i-1] == 'n'):
			i++
		case j == i && (src[i] == ' ' || src[i] == '\t' || src[i] == '\n' || src[i] == '\r'):
			i++
		default:
			return i
		}
	}
	return i
}
