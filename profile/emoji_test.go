package profile

import "testing"

func TestEmojiByUnicode(t *testing.T) {
	for _, is := range []string{
		"◽", "◾", "◻️", "*️⃣", "#️⃣", "0️⃣", "9⃣", "ℹ️", "ℹ", "‼️", "⁉️", "™️", "©️", "↔️", "⤴️", "〰️", "〽️", "㊗️", "▶️",
		"⚔️", "🗡️", "🧙", "🫏", "🛋️", "👩🏽‍🚀", "🧑‍🏫", "👨‍👩‍👧‍👦", "🏳️‍🌈", "❤️‍🔥", "🇳🇱", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👍🏿", "🐈‍⬛", "🪿", "🫩", "♂️",
	} {
		if bad := checkEmoji(is); bad != nil {
			t.Errorf("%q: %s", is, bad.message)
		}
	}
	for _, not := range []string{
		"C", "1", "*", "#", "é", "C️", "1️", "a⃣", "🇳", "🔥🔥", "🔥a", "⃣", "️", "字", "!", "\u200d", "🔥\u200da", "🔥\u200d", "+", "٣️⃣", "",
	} {
		if checkEmoji(not) == nil {
			t.Errorf("%q passes for an emoji", not)
		}
	}
}
