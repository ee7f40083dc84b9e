// Package offline seats people at the table who need no model: a game master
// who knows one adventure by heart, players who act from their own sheet, and
// keepers who write journals from what they are handed.
//
// They are honest about it. The game master follows the beats of the adventure
// and lets the dice decide; the players quote their bonds and flaws and veto
// when one of them is touched; nobody invents a world. They speak the same
// text forms as any agent without tools (see table/flow), read only what their
// room holds, and are driven by what is in the campaign's files, so that a
// session that was cut goes on where it stopped.
package offline
