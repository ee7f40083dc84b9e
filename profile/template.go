package profile

import (
	"fmt"
	"strings"
)

// template is a documented, unfilled profile of an archetype for a pack. What it
// asks to fill in is faulty until it is filled in, so that validate leads an
// author from one to the next.
func template(a Archetype, theme string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\narchetype: %s\nskin-name: \"\"\ntheme: %s\nemoji: \"%s\"\n---\n\n", a.ID, quoted(theme), a.emoji)
	fmt.Fprintf(&b, `<!--
The %s: %s. Core: %s.
The core stays recognisable under every skin; a profile never negates it.

skin-name  the character's name: 1 to 64 characters, one line,
           none of %s, not beginning with a dot,
           and like no other name in the pack
theme      the same in all nine files
emoji      exactly one; %s is the archetype's own, or remove the line to use it

Comments like this one are for you: remove them when you are done.
-->

`, a.Title, a.role, a.Core, forbidden, a.emoji)
	fmt.Fprintf(&b, `## Character Concept

<!--
Who is this character in the world of your theme, and how does the core of the
%s (%s) show in what they do? A paragraph or three.
-->

## Tone and Voice

<!--
How do they speak? Rhythm, words, images of the theme, and a few lines they
would really say about real work.
-->
`, a.ID, a.Core)
	if a.Kind == animal {
		fmt.Fprintf(&b, `
<!--
Optional. A section "Behavioural Modifiers" may tune what flexes in the %s:
%s. Write it as a list, below a heading of its own:

    - **What is tuned: which way.** How it shows.
-->
`, a.ID, strings.Join(a.flex, "; "))
	}
	return []byte(b.String())
}

// quoted writes a text as a double-quoted YAML scalar.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// title is the natural form of a pack's name: hundred-acre-wood is Hundred Acre
// Wood. It is a first guess; an author may write "Family & Parenting".
func title(name string) string {
	words := strings.Split(name, "-")
	for i, w := range words {
		if r := []rune(w); len(r) > 0 {
			words[i] = strings.ToUpper(string(r[:1])) + string(r[1:])
		}
	}
	return strings.Join(words, " ")
}

// Plain is a complete profile made of nothing but a name: the archetype's core,
// said plainly. It is where a person starts who wants a name and no story.
func Plain(a Archetype, skin, theme, emoji string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\narchetype: %s\nskin-name: %s\ntheme: %s\n", a.ID, quoted(skin), quoted(theme))
	if emoji != "" {
		fmt.Fprintf(&b, "emoji: %s\n", quoted(emoji))
	}
	fmt.Fprintf(&b, `---

## Character Concept

%s is the %s of this party under another name. The core is unchanged: %s.

## Tone and Voice

Plain and friendly, in the words of the project.
`, skin, a.ID, a.Core)
	return []byte(b.String())
}
