// Package shingle recognises a text again without keeping it.
//
// A forbidden source is cut into windows of eight consecutive words, and each
// window is kept only as a keyed digest (HMAC-SHA256, cut to 16 bytes). A text
// that contains one of those windows – copied, re-wrapped, re-punctuated,
// quoted, in another case – is found, with the line where it begins. Windows
// that also stand in something the reader was rightly given are subtracted,
// so that a phrase both texts share accuses nobody.
//
// The package promises: the same words give the same digest under the same
// key, wherever lines break; without the key a digest says nothing about its
// words. It refuses nothing and stores nothing.
//
// What it cannot see: a paraphrase, a passage shorter than eight words, and
// text that is packed or encrypted (archives, images, base64). Whoever uses it
// says so.
package shingle
