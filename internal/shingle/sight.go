package shingle

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sight is the second reading of a text: what somebody sees to whom it is shown.
// An escape in a string literal (\n, \u2019) and an entity (&nbsp;) are what they
// stand for; a tag is nothing, or the end of a word; a word that is hyphenated
// over the end of a line is one word, whatever marks the lines begin with.
//
// It is switched on by the first character of such a mark, goes on until a window
// of words after the last one that was one, and is then as if it had never been.
// Of what it leaves out, the words inside a tag, the first reading has all.
type sight struct {
	on    bool
	fresh int // words until the two readings are one again
	words tokeniser
	last  ring

	state state
	held  []byte // of a mark that may be one
	at    int    // where it began
	want  int    // digits of an escape
	ends  bool   // the open tag ends a word

	broken breaking
	blank  int // characters since the break
}

// state is what the next character is read as.
type state int

const (
	inText state = iota
	inEscape
	inDigits
	inEntity
	inTag // its name
	inAttributes
)

// breaking is how far a word is broken over the end of a line.
type breaking int

const (
	whole  breaking = iota
	hyphen          // "delib-"
	soft            // the same by a hyphen that is only seen there
	broken          // the next line has begun
)

// The bounds of a mark, in characters: an entity's name, a tag with all its
// attributes, and what stands between a hyphen and the rest of its word.
const (
	maxEntity = 10
	maxTag    = 1000
	maxBlank  = 16
)

// marks are what begins a mark.
var marks = [utf8.RuneSelf]bool{'\\': true, '&': true, '<': true, '-': true}

const softHyphen, trueHyphen = '\u00AD', '\u2010'

func isHyphen(r rune) bool { return r == '-' || r == softHyphen || r == trueHyphen }

// take reads a character before the first reading does.
func (s *sight) take(r rune, written *tokeniser, last *ring) {
	if !s.on {
		s.on, s.state, s.broken, s.fresh = true, inText, whole, 0
		s.last.copy(last)
		s.words.word = append(s.words.word[:0], written.word...)
		s.words.from = written.from
	}
	s.words.pos, s.words.line = written.pos, written.line
	if s.state == inText && s.broken == whole && r < utf8.RuneSelf && letters[r] != 0 {
		s.words.put(letters[r]) // nearly all of it
		return
	}
	s.read(r)
	s.on = s.fresh > 0 || s.state != inText || s.broken != whole
}

// differs notes that the two readings are not the same here.
func (s *sight) differs() { s.fresh = Window + 1 }

func (s *sight) read(r rune) {
	switch s.state {
	case inText:
		s.begin(r)
	case inEscape:
		s.escape(r)
	case inDigits:
		s.digit(r)
	case inEntity:
		s.entity(r)
	case inTag, inAttributes:
		s.tag(r)
	}
}

func (s *sight) begin(r rune) {
	switch r {
	case '\\':
		s.state = inEscape
	case '&':
		s.hold(inEntity)
	case '<':
		s.hold(inTag)
	default:
		s.see(r)
	}
}

func (s *sight) hold(in state) { s.state, s.held, s.at = in, s.held[:0], s.words.pos }

// release reads what was held as what it is: no mark.
func (s *sight) release() {
	s.state = inText
	s.see(' ') // what the mark would have begun with
	pos := s.words.pos
	for i, c := range s.held {
		s.words.pos = s.at + 1 + i
		s.see(rune(c))
	}
	s.words.pos = pos
}

// escape reads what follows a backslash, or several.
func (s *sight) escape(r rune) {
	s.state = inText
	switch r {
	case '\\':
		s.state = inEscape
	case 'n', 'r', 't':
		s.differs()
		s.see('\n')
	case 'u', 'U', 'x':
		s.hold(inDigits)
		s.held = append(s.held, byte(r))
		s.want = map[rune]int{'u': 4, 'U': 8, 'x': 2}[r]
	case '\'':
		s.differs()
		s.see(r)
	default:
		s.see(' ')
		s.begin(r)
	}
}

func (s *sight) digit(r rune) {
	if r >= utf8.RuneSelf || !strings.ContainsRune("0123456789abcdefABCDEF", r) {
		s.release()
		s.begin(r)
		return
	}
	s.held = append(s.held, byte(r))
	if len(s.held) > s.want {
		s.state = inText
		code, _ := strconv.ParseUint(string(s.held[1:]), 16, 32) // they are digits
		s.differs()
		s.see(rune(code))
	}
}

func (s *sight) entity(r rune) {
	switch {
	case r == ';':
		stands := html.UnescapeString("&" + string(s.held) + ";")
		if strings.HasSuffix(stands, ";") && len(stands) > 1 {
			s.release()
			return
		}
		s.state = inText
		s.differs()
		for _, c := range stands {
			s.see(c)
		}
	case r < utf8.RuneSelf && (letters[r] != 0 || r == '#') && len(s.held) < maxEntity:
		s.held = append(s.held, byte(r))
	default:
		s.release()
		s.begin(r)
	}
}

// inline are the tags that end no word.
var inline = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq("a abbr b big cite code del em font i ins kbd mark q s samp small span strong sub sup tt u var wbr") {
		set[name] = true
	}
	return set
}()

func (s *sight) tag(r rune) {
	letter := r < utf8.RuneSelf && letters[r] != 0
	switch first := len(s.held) == 0 || s.held[len(s.held)-1] == '/'; {
	case s.state == inTag && (letter && (r > '9' || !first) || r == '/' && len(s.held) == 0):
		s.held = append(s.held, byte(r))
	case s.state == inTag && first || r == '<' || s.words.pos-s.at > maxTag:
		s.release() // no tag
		s.begin(r)
	case r == '>':
		s.ends = !inline[strings.ToLower(strings.Trim(string(s.held), "/"))]
		s.state = inText
		s.differs()
		if s.ends {
			s.see(' ')
		}
	default:
		s.state = inAttributes
	}
}

// see reads a character that is seen.
func (s *sight) see(r rune) {
	switch s.broken {
	case hyphen, soft:
		switch {
		case r == '\n':
			s.broken, s.blank = broken, 0
			return
		case r == '\r':
			return
		case s.broken == hyphen:
			s.words.flush()
		}
		s.broken = whole
	case broken:
		switch s.blank++; {
		case unicode.IsLetter(r):
			s.differs()
		case r == '\n' || unicode.IsDigit(r) || s.blank > maxBlank:
			s.words.flush()
		default:
			return
		}
		s.broken = whole
	}
	switch {
	case isHyphen(r) && len(s.words.word) > 0:
		s.broken = hyphen
		if r == softHyphen {
			s.broken = soft
		}
	case r == '\n':
		s.words.flush() // which line it is, the first reading knows
	case r < utf8.RuneSelf:
		s.words.ascii(byte(r))
	default:
		s.words.wide(r)
	}
}
