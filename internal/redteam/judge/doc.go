// Package judge goes for the judge that can be called: its tests try many ways,
// by the command `gate` and over MCP, to put an agent's reasoning before a judge,
// to read its room, or to get a "met" that no judge gave. Each way is played with
// the built program, in a real repository with a quest whose conversation nobody
// may show to a judge.
//
// The judge is a model that reads everything in its room and finds nothing to be
// met. So what it was sent is all that could have reached it, and every "met" is
// somebody else's. What it says beside its verdict must not come back to whoever
// asked.
//
// That words can reach the judge at all, that its "met" counts, and that the way
// back is looked at, is shown first: a test that cannot fail proves nothing.
//
// The package has no code outside its tests.
package judge
