CREATE VIRTUAL TABLE words USING fts5(bag, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '_'");
INSERT INTO words(words, rank) VALUES('hashsize', 33554432);
INSERT INTO words(words, rank) VALUES('automerge', 8);
INSERT INTO words(words, rank) VALUES('pgsz', 4000);
