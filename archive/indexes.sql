-- What queries count and join by. They hold all that it takes, so that the rows
-- themselves are not read. A large load does without them and makes them at its
-- end, which costs half of keeping them up to date.
CREATE INDEX IF NOT EXISTS items_type ON items(type, agent, origin, copy);
CREATE INDEX IF NOT EXISTS items_tool ON items(tool_id, source, type, copy) WHERE tool_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS items_call ON items(type, tool, tool_id, source, origin, at, copy) WHERE tool IS NOT NULL;
