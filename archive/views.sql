-- Entries that are shown and counted: of copies in several sources one.
CREATE VIEW standing AS SELECT * FROM items WHERE copy IS NULL;


-- What a query sees. Long columns are functions: they are read from the blocks
-- when they are asked for.
-- They look other tables up by subqueries, not by joins: what a query does not
-- ask for costs nothing then.
CREATE VIEW logs AS
SELECT i.id AS rowid, (SELECT s.run FROM sources s WHERE s.id = i.source) AS bundle,
  CASE WHEN i.line IS NULL THEN conclave_time(i.at) ELSE conclave_part('context', (SELECT s.kind FROM sources s WHERE s.id = i.source), NULL, i.type, i.block, i.off, i.size, i.part) ->> '$.timestamp' END AS timestamp, i.level AS level, i.logger AS logger, i.event AS event,
  CASE WHEN i.type IS NULL THEN i.message ELSE conclave_part('message', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part) END AS message,
  conclave_part('context', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part) AS context,
  i.seq AS seq, i.type AS entry_type, i.seq AS sequence_number, (SELECT o.prompt_name FROM origins o WHERE o.id = i.origin) AS prompt_name, (SELECT o.adapter FROM origins o WHERE o.id = i.origin) AS adapter,
  i.agent AS transcript_source, nullif((SELECT o.session_id FROM origins o WHERE o.id = i.origin), '') AS session_id, i.source AS source_id
FROM items i WHERE i.event IS NOT NULL;

CREATE VIEW transcript AS
SELECT i.id AS rowid, (SELECT s.run FROM sources s WHERE s.id = i.source) AS bundle, conclave_time(i.at) AS timestamp, (SELECT o.prompt_name FROM origins o WHERE o.id = i.origin) AS prompt_name,
  i.agent AS transcript_source, i.seq AS sequence_number, i.type AS entry_type,
  conclave_part('reading.role', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part) AS role,
  conclave_part('reading.content', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part) AS content,
  i.tool AS tool_name, i.tool_id AS tool_use_id,
  conclave_part('raw', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part) AS raw_json,
  conclave_part('parsed', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part) AS parsed,
  CASE WHEN i.event IS NOT NULL THEN conclave_part('context', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part)
  ELSE json_object('prompt_name', (SELECT o.prompt_name FROM origins o WHERE o.id = i.origin), 'adapter', (SELECT o.adapter FROM origins o WHERE o.id = i.origin), 'entry_type', i.type, 'sequence_number', i.seq,
    'source', i.agent, 'timestamp', conclave_time(i.at), 'session_id', (SELECT o.session_id FROM origins o WHERE o.id = i.origin),
    'detail', json(conclave_part('detail', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part)),
    'raw', conclave_part('raw', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part)) END AS context,
  conclave_part('reading.tool', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part) AS read_tool,
  conclave_part('reading.tool_id', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part) AS read_tool_id,
  conclave_part('content', (SELECT s.kind FROM sources s WHERE s.id = i.source), (SELECT o.adapter FROM origins o WHERE o.id = i.origin), i.type, i.block, i.off, i.size, i.part) AS said,
  coalesce(i.event, 'transcript.entry') AS event, coalesce(i.level, 'DEBUG') AS level,
  i.subtype AS subtype, i.failed AS is_error, i.chars AS characters,
  (SELECT o.adapter FROM origins o WHERE o.id = i.origin) AS adapter, nullif((SELECT o.session_id FROM origins o WHERE o.id = i.origin), '') AS session_id, (SELECT o.seat FROM origins o WHERE o.id = i.origin) AS seat, (SELECT o.project FROM origins o WHERE o.id = i.origin) AS project, i.source AS source_id
FROM standing i WHERE i.type IS NOT NULL;

CREATE VIEW transcript_entries AS
SELECT rowid, bundle, timestamp, prompt_name, transcript_source, sequence_number, entry_type, role, content,
  tool_name, tool_use_id, raw_json, parsed
FROM transcript;

CREATE VIEW tool_calls AS
SELECT u.id AS rowid, s.run AS bundle, conclave_time(u.at) AS timestamp, u.tool AS tool_name,
  conclave_part('input', s.kind, o.adapter, 'tool_use', u.block, u.off, u.size, u.part) AS params,
  conclave_part('content', s.kind, o.adapter, r.type, r.block, r.off, r.size, r.part) AS result,
  CASE WHEN r.id IS NULL THEN NULL WHEN r.failed THEN 0 ELSE 1 END AS success,
  CASE WHEN r.failed THEN substr(conclave_part('content', s.kind, o.adapter, r.type, r.block, r.off, r.size, r.part), 1, 200) ELSE '' END AS error_code,
  (r.at - u.at) / 1000.0 AS duration_ms,
  u.tool_id AS tool_use_id, o.source AS transcript_source, u.seq AS sequence_number, o.seat AS seat, o.project AS project
FROM standing u LEFT JOIN sources s ON s.id = u.source LEFT JOIN origins o ON o.id = u.origin
LEFT JOIN standing r ON r.id = (SELECT min(x.id) FROM standing x WHERE x.tool_id = u.tool_id AND x.source = u.source
  AND x.type IN ('tool_result', 'user_message'))
WHERE u.tool IS NOT NULL AND u.type IN ('tool_use', 'assistant_message')
UNION ALL
SELECT l.id, s.run, conclave_time(l.at), l.tool,
  coalesce(c.context -> '$.arguments', c.context -> '$.params', '{}'), coalesce(c.context -> '$.value', c.context -> '$.result', '{}'),
  coalesce(c.context ->> '$.success', c.context ->> '$.error' IS NULL), coalesce(c.context ->> '$.error_code', c.context ->> '$.error', ''),
  coalesce(c.context ->> '$.duration_ms', 0.0), c.context ->> '$.tool_use_id', NULL, l.seq, NULL, NULL
FROM standing l JOIN sources s ON s.id = l.source JOIN logs c ON c.rowid = l.id
WHERE l.type IS NULL AND l.tool IS NOT NULL;

CREATE VIEW tool_timeline AS
SELECT rowid, bundle, timestamp, tool_name, CASE WHEN json_valid(params) THEN params ->> '$.command' END AS command,
  success, duration_ms, CASE WHEN success = 0 THEN error_code END AS error, transcript_source, seat
FROM tool_calls ORDER BY timestamp;

-- What bears the names of the original system's views gives its answers: tool and
-- call are those that it reads from an entry. A call stands in native_tool_calls
-- once; there, the result of some programs' calls is a second row.
CREATE VIEW transcript_flow AS
SELECT sequence_number, transcript_source, entry_type, role,
  CASE WHEN entry_type IN ('user_message', 'assistant_message')
      THEN CASE WHEN length(content) > 100 THEN substr(content, 1, 97) || '...' ELSE content END
    WHEN entry_type = 'thinking' THEN '[THINKING]'
    WHEN entry_type = 'tool_result' THEN '[TOOL RESULT: ' || read_tool || ']'
    ELSE '[' || entry_type || ']' END AS message_preview,
  timestamp, bundle
FROM transcript ORDER BY bundle, transcript_source, sequence_number;

CREATE VIEW transcript_tools AS
SELECT u.sequence_number AS call_seq, r.sequence_number AS result_seq, u.transcript_source, u.read_tool AS tool_name,
  u.read_tool_id AS tool_use_id, u.content AS tool_params, r.content AS tool_result,
  u.timestamp AS call_time, r.timestamp AS result_time, u.bundle
FROM transcript u LEFT JOIN transcript r ON r.entry_type = 'tool_result' AND r.source_id = u.source_id
  AND r.transcript_source = u.transcript_source AND r.tool_use_id = u.tool_use_id AND r.read_tool_id = u.read_tool_id
WHERE u.entry_type IN ('assistant_message', 'tool_use') AND u.tool_name IS NOT NULL AND u.read_tool <> ''
ORDER BY u.bundle, u.sequence_number;

CREATE VIEW transcript_thinking AS
SELECT sequence_number, transcript_source,
  CASE WHEN length(content) > 200 THEN substr(content, 1, 197) || '...' ELSE content END AS thinking_preview,
  length(content) AS thinking_length, timestamp, bundle
FROM transcript WHERE entry_type = 'thinking' AND content <> '' ORDER BY bundle, sequence_number;

CREATE VIEW transcript_agents AS
SELECT transcript_source, CASE WHEN transcript_source LIKE 'subagent:%' THEN substr(transcript_source, 10) END AS agent_id,
  min(sequence_number) AS first_entry, max(sequence_number) AS last_entry, count(*) AS total_entries,
  count(CASE WHEN entry_type = 'user_message' THEN 1 END) AS user_messages,
  count(CASE WHEN entry_type = 'assistant_message' THEN 1 END) AS assistant_messages,
  count(CASE WHEN entry_type = 'thinking' THEN 1 END) AS thinking_blocks,
  count(DISTINCT tool) AS unique_tools, count(tool) AS total_tool_calls, bundle
FROM (SELECT *, CASE WHEN tool_name IS NOT NULL THEN nullif(read_tool, '') END AS tool FROM transcript)
GROUP BY bundle, transcript_source ORDER BY bundle, min(sequence_number);

CREATE VIEW native_tool_calls AS
SELECT sequence_number, timestamp, transcript_source AS source, read_tool AS tool_name, read_tool_id AS tool_use_id,
  NULL AS source_file, content, raw_json, bundle
FROM transcript WHERE entry_type IN ('assistant_message', 'tool_use') AND tool_name IS NOT NULL AND read_tool <> ''
UNION ALL
SELECT seq, timestamp, 'log_aggregator', NULL, NULL, context ->> '$.file', context ->> '$.content', context ->> '$.content', bundle
FROM logs WHERE event = 'log_aggregator.log_line' AND context ->> '$.content' LIKE '%"type":"tool_%';

CREATE VIEW errors AS
SELECT i.id AS rowid, s.run AS bundle, 'log' AS source, i.event AS error_type, i.message AS message,
  coalesce(conclave_part('context', s.kind, o.adapter, i.type, i.block, i.off, i.size, i.part) ->> '$.traceback', '') AS traceback,
  conclave_time(i.at) AS timestamp
FROM standing i LEFT JOIN sources s ON s.id = i.source LEFT JOIN origins o ON o.id = i.origin WHERE i.level = 'ERROR' AND i.type IS NULL
UNION ALL
SELECT rowid, bundle, 'transcript', coalesce(subtype, 'error'), said, '', timestamp FROM transcript WHERE entry_type = 'error'
UNION ALL
SELECT min(d.rowid), s.run, 'error.json', max(CASE d.key WHEN 'type' THEN d.value END), max(CASE d.key WHEN 'message' THEN d.value END),
  coalesce(group_concat(CASE WHEN d.key LIKE 'traceback%' THEN d.value END, ''), ''), NULL
FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'error' GROUP BY d.source
UNION ALL
SELECT rowid, bundle, 'tool_call', 'ToolError:' || tool_name, error_code, '', timestamp FROM tool_calls WHERE success = 0;

CREATE VIEW error_summary AS
SELECT source, error_type, message, substr(traceback, 1, 200) AS traceback_head, bundle, timestamp FROM errors;

CREATE VIEW manifest AS
SELECT max(CASE d.key WHEN 'bundle_id' THEN d.value END) AS bundle_id,
  max(CASE d.key WHEN 'format_version' THEN d.value END) AS format_version,
  max(CASE d.key WHEN 'created_at' THEN d.value END) AS created_at,
  max(CASE d.key WHEN 'request_status' THEN d.value END) AS status,
  max(CASE d.key WHEN 'request_request_id' THEN d.value END) AS request_id,
  max(CASE d.key WHEN 'request_session_id' THEN d.value END) AS session_id,
  max(CASE d.key WHEN 'request_started_at' THEN d.value END) AS started_at,
  max(CASE d.key WHEN 'request_ended_at' THEN d.value END) AS ended_at,
  max(CASE d.key WHEN 'capture_mode' THEN d.value END) AS capture_mode,
  max(CASE d.key WHEN 'capture_trigger' THEN d.value END) AS capture_trigger,
  max(CASE d.key WHEN 'prompt_ns' THEN d.value END) AS prompt_ns,
  max(CASE d.key WHEN 'prompt_key' THEN d.value END) AS prompt_key,
  max(CASE d.key WHEN 'prompt_adapter' THEN d.value END) AS prompt_adapter,
  s.path AS path
FROM sources s JOIN documents d ON d.source = s.id AND d.name = 'manifest' GROUP BY s.id
UNION ALL
SELECT s.run, NULL, CASE WHEN json_valid(s.header) THEN s.header ->> '$.created' END,
  CASE WHEN s.seal <> '' THEN 'sealed' ELSE s.state END, NULL, NULL, NULL,
  CASE WHEN json_valid(s.seal) THEN s.seal ->> '$.sealed' END, s.kind, NULL, NULL, NULL, NULL, s.path
FROM sources s WHERE s.kind <> 'bundle';

CREATE VIEW session_slices AS SELECT l.rowid AS rowid, s.run AS bundle, l.slice_type, l.data FROM slices l JOIN sources s ON s.id = l.source;
CREATE VIEW files AS SELECT f.rowid AS rowid, s.run AS bundle, f.path, f.content, f.size_bytes FROM bundle_files f JOIN sources s ON s.id = f.source;
CREATE VIEW config AS SELECT d.rowid AS rowid, s.run AS bundle, d.key, d.value FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'config';
CREATE VIEW metrics AS SELECT d.rowid AS rowid, s.run AS bundle, d.key, d.value FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'metrics';
CREATE VIEW run_context AS SELECT d.rowid AS rowid, s.run AS bundle, d.key, d.value FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'run_context';
CREATE VIEW prompt_overrides AS SELECT d.rowid AS rowid, s.run AS bundle, d.key, d.value FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'prompt_overrides';
CREATE VIEW eval AS SELECT d.rowid AS rowid, s.run AS bundle, d.key, d.value FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'eval';
CREATE VIEW environment AS SELECT d.rowid AS rowid, s.run AS bundle, substr(d.name, 13) AS file, d.key, d.value FROM documents d JOIN sources s ON s.id = d.source WHERE d.name LIKE 'environment/%';

-- The machine, in the original system's tables.
CREATE VIEW env_system AS
SELECT max(CASE d.key WHEN 'os_name' THEN d.value END) AS os_name,
  max(CASE d.key WHEN 'os_release' THEN d.value END) AS os_release,
  max(CASE d.key WHEN 'kernel_version' THEN d.value END) AS kernel_version,
  max(CASE d.key WHEN 'architecture' THEN d.value END) AS architecture,
  max(CASE d.key WHEN 'processor' THEN d.value END) AS processor,
  CAST(max(CASE d.key WHEN 'cpu_count' THEN d.value END) AS INTEGER) AS cpu_count,
  CAST(max(CASE d.key WHEN 'memory_total_bytes' THEN d.value END) AS INTEGER) AS memory_total_bytes,
  max(CASE d.key WHEN 'hostname' THEN d.value END) AS hostname,
  s.run AS bundle
FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'environment/system.json' GROUP BY d.source;

CREATE VIEW env_python AS
SELECT max(CASE d.key WHEN 'version' THEN d.value END) AS version,
  max(CASE d.key WHEN 'version_info' THEN d.value END) AS version_info,
  max(CASE d.key WHEN 'implementation' THEN d.value END) AS implementation,
  max(CASE d.key WHEN 'executable' THEN d.value END) AS executable,
  max(CASE d.key WHEN 'prefix' THEN d.value END) AS prefix,
  max(CASE d.key WHEN 'base_prefix' THEN d.value END) AS base_prefix,
  max(CASE WHEN d.key = 'is_virtualenv' THEN d.value = 'true' END) AS is_virtualenv,
  s.run AS bundle
FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'environment/python.json' GROUP BY d.source;

CREATE VIEW env_git AS
SELECT max(CASE d.key WHEN 'repo_root' THEN d.value END) AS repo_root,
  max(CASE d.key WHEN 'commit_sha' THEN d.value END) AS commit_sha,
  max(CASE d.key WHEN 'commit_short' THEN d.value END) AS commit_short,
  max(CASE d.key WHEN 'branch' THEN d.value END) AS branch,
  max(CASE WHEN d.key = 'is_dirty' THEN d.value = 'true' END) AS is_dirty,
  json_group_object(substr(d.key, 9), d.value) FILTER (WHERE d.key LIKE 'remotes\_%' ESCAPE '\') AS remotes,
  max(CASE d.key WHEN 'tags' THEN d.value END) AS tags,
  s.run AS bundle
FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'environment/git.json' GROUP BY d.source;

CREATE VIEW env_container AS
SELECT max(CASE d.key WHEN 'runtime' THEN d.value END) AS runtime,
  max(CASE d.key WHEN 'container_id' THEN d.value END) AS container_id,
  max(CASE d.key WHEN 'image' THEN d.value END) AS image,
  max(CASE d.key WHEN 'image_digest' THEN d.value END) AS image_digest,
  max(CASE d.key WHEN 'cgroup_path' THEN d.value END) AS cgroup_path,
  max(CASE WHEN d.key = 'is_containerized' THEN d.value = 'true' END) AS is_containerized,
  s.run AS bundle
FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'environment/container.json' GROUP BY d.source;

CREATE VIEW env_vars AS SELECT d.rowid AS rowid, d.key AS name, d.value, s.run AS bundle FROM documents d JOIN sources s ON s.id = d.source WHERE d.name = 'environment/env_vars.json';

CREATE VIEW request AS SELECT d.rowid AS rowid, s.run AS bundle, substr(d.name, 9) AS direction, d.key, d.value FROM documents d JOIN sources s ON s.id = d.source WHERE d.name LIKE 'request/%';

CREATE VIEW usage AS
SELECT bundle, timestamp, substr(timestamp, 1, 10) AS day, project, seat, session_id, transcript_source, model,
  input, output, cache_read, cache_write, input + output + cache_read + cache_write AS total,
  cost_usd(model, input, output, cache_read, cache_write, cache_write_1h, web_searches) AS cost_usd,
  cache_write_1h, web_searches
FROM (
  SELECT s.run AS bundle, conclave_time(u.at) AS timestamp, o.project, o.seat, o.session_id, o.source AS transcript_source,
    u.model, u.input, u.output, u.cache_read, u.cache_write, u.cache_write_1h, u.web_searches,
    row_number() OVER (PARTITION BY u.key ORDER BY u.output DESC, u.input DESC, coalesce((SELECT h.began FROM holdings h WHERE h.source = u.source AND h.whose = o.whose), 0), s.kind IN ('record', 'bundle'),
      s.path, s.generation, u.item) AS copy
  FROM (SELECT item, source, key, model, at, input, output, cache_read, cache_write, cache_write_1h, web_searches FROM usage_rows
    UNION ALL SELECT item, source, key, model, at, input, output, cache_read, cache_write, cache_write_1h, web_searches FROM unwritten) u
  JOIN sources s ON s.id = u.source JOIN items i ON i.id = u.item LEFT JOIN origins o ON o.id = i.origin)
WHERE copy = 1;

CREATE VIEW cost AS
SELECT model, count(*) AS responses, sum(input) AS input, sum(output) AS output, sum(cache_read) AS cache_read,
  sum(cache_write) AS cache_write, sum(cost_usd) AS cost_usd, sum(cache_write_1h) AS cache_write_1h,
  sum(web_searches) AS web_searches
FROM usage GROUP BY model;

CREATE VIEW turns AS
WITH starts AS (
  SELECT i.*, lead(i.seq) OVER (PARTITION BY i.source, i.origin ORDER BY i.seq) AS until,
    row_number() OVER (PARTITION BY i.source, i.origin ORDER BY i.seq) AS turn
  FROM standing i WHERE i.type = 'user_message')
SELECT s.run AS bundle, o.source AS transcript_source, o.seat AS seat, t.turn AS turn, t.seq AS sequence_number, conclave_time(t.at) AS started,
  (SELECT conclave_time(max(x.at)) FROM standing x WHERE x.source = t.source AND x.seq >= t.seq AND x.seq < coalesce(t.until, 1 << 62) AND x.origin = t.origin) AS ended,
  conclave_part('content', s.kind, o.adapter, t.type, t.block, t.off, t.size, t.part) AS prompt,
  (SELECT count(*) FROM standing x WHERE x.source = t.source AND x.seq > t.seq AND x.seq < coalesce(t.until, 1 << 62) AND x.origin = t.origin AND x.type = 'tool_use') AS tool_calls,
  (SELECT count(*) FROM standing x WHERE x.source = t.source AND x.seq > t.seq AND x.seq < coalesce(t.until, 1 << 62) AND x.origin = t.origin AND (x.type = 'error' OR x.failed)) AS errors
FROM starts t LEFT JOIN sources s ON s.id = t.source LEFT JOIN origins o ON o.id = t.origin;

CREATE VIEW leaks AS
SELECT s.run AS bundle, f.rule, f.turn, f.frame, f.what AS what, s.path FROM findings f JOIN sources s ON s.id = f.source;

-- Whether what the engine says was said stands in what the agent's program
-- wrote: found is 1, or there is something to look into.
CREATE VIEW verbatim AS
SELECT r.bundle, r.turn, r.what, r.text, EXISTS (
  SELECT 1 FROM transcript t WHERE t.source_id = r.source_id
    AND t.entry_type = CASE r.what WHEN 'reply' THEN 'assistant_message' ELSE 'user_message' END
    AND (instr(t.said, r.text) > 0 OR t.said <> '' AND instr(r.text, t.said) > 0)) AS found
FROM (
  SELECT l.bundle, l.source_id, l.context ->> '$.turn' AS turn, 'reply' AS what, l.context ->> '$.text' AS text FROM logs l WHERE l.event = 'turn.reply'
  UNION ALL
  SELECT l.bundle, l.source_id, l.context ->> '$.turn', 'message', p.value ->> '$.text' FROM logs l, json_each(l.context, '$.parts') p WHERE l.event = 'turn.message') r
WHERE r.text <> '';
