// Package shingle recognises a text again without keeping it.
//
// A forbidden source is cut into windows of eight consecutive words, and each
// window is kept only as a keyed digest (HMAC-SHA256, cut to 16 bytes). A text
// that contains one of those windows – copied, re-wrapped, re-punctuated,
// quoted, in another case – is found, with the line where it begins. So is one in
// which the words are hidden from a plain search and not from a reader: by
// escapes of a string literal, by entities and tags, by hyphens at the ends of
// lines. Windows
// that also stand in something the reader was rightly given are subtracted,
// so that a phrase both texts share accuses nobody.
//
// The package promises: the same words give the same digest under the same
// key, wherever lines break; without the key a digest says nothing about its
// words. Digests of earlier versions are found in a text as it is written
// (AsWritten), as they were then. It refuses nothing and stores nothing.
//
// What it cannot see: a paraphrase, a passage shorter than eight words, and
// text that is packed or encrypted (archives, images, base64, percent signs). In
// the second reading, words inside a tag; and of two lines next to each other,
// where one ends in a hyphenated word and the other in a compound, both are read
// in the same way. Whoever uses it says so.
package shingle
