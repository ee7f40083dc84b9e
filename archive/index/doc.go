// Package index holds what the index of words is made of: how a text is cut into
// words, which further words say of what type an entry is and whose, and how
// documents are numbered. The archive writes the index, archive/search asks it;
// both have to speak it alike, and so it stands here once.
//
// It stores nothing and knows no database. What it gives is stored by others:
// another cut, mark or number needs a rebuild of every archive.
package index
