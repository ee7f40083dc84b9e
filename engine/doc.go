// Package engine runs interactions that survive the death of the process: a
// flow is an ordinary Go function, and what it does through a Run (Do, Turn,
// Ask, Commit, Spawn, Parallel) is durable. When the process is killed,
// Resume runs the flow again from its beginning, hands it the recorded result
// of every step that had ended, and repeats only the one that had not.
//
// The engine knows neither quests nor tables. It is the only importer of the
// durable-execution library underneath (DBOS Transact), on SQLite inside the
// workspace by default, on PostgreSQL by a URL.
//
// What it stores: .conclave/engine/<scope>.db, the steps of interactions that
// are open, and of those that ended until Prune. The database is memory, files
// are truth: between interactions nothing is pending, and the database may
// then be deleted. .conclave/locks/<scope>.lock names the process that holds
// the scope.
//
// What it promises:
//   - One holder per scope. A second Open is refused with the holder's name,
//     or waits. Scopes have databases of their own: a command on one can never
//     run a step of another.
//   - Nothing runs that nobody asked for. Opening an engine runs nothing, Peek
//     does not even write; Start and Resume run one interaction by its id (and
//     what that one had spawned), whatever else lies open.
//   - A step that was recorded is never run again. A step that was not is run
//     again, so its effects must be repeatable: Commit makes changes of files
//     so, Turn makes turns of agents so.
//   - A question is asked again after a kill, any number of times, until its
//     answer is recorded; then never again.
//   - A flow sees a value or an error of a step only in its recorded form, so
//     that the first run and every replay take the same way.
//   - What cannot be recorded stops the interaction and leaves it open.
//
// What it asks of flows: between steps, only what the input and the results of
// earlier steps determine. Clocks, files, chance, people and agents belong into
// steps (Now, Do, Ask, Turn). A flow whose steps change gets a new Version; the
// old one stays registered until no interaction of it can be open any more.
//
// What it refuses: steps within steps, an id that was used before, a path that
// leads out of the workspace or through a link, and to guess what to do with a
// file that somebody else has changed (EditedError).
package engine
