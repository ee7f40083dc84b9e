CREATE VIRTUAL TABLE words USING fts5(bag, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '_'");
-- As many as package segment lets come together.
INSERT INTO words(words, rank) VALUES('usermerge', 16);
