// Prints a Parquet file as one JSON value: {"columns": {NAME: TYPE}, "rows": [{…}]}.
// Whole numbers and instants (as microseconds) are texts.
const { parquetReadObjects, parquetMetadataAsync, parquetSchema, asyncBufferFromFile } =
  await import(process.argv[1] + '/src/node.js')
const file = await asyncBufferFromFile(process.argv[2])
const metadata = await parquetMetadataAsync(file)
const columns = {}
for (const c of parquetSchema(metadata).children) {
  columns[c.element.name] = c.element.logical_type?.type ?? c.element.converted_type ?? c.element.type
}
const rows = await parquetReadObjects({ file, metadata, parsers: { timestampFromMicroseconds: String } })
const groups = metadata.row_groups.length
process.stdout.write(JSON.stringify({ columns, groups, rows }, (_, v) => typeof v === 'bigint' ? String(v) : v ?? null))
