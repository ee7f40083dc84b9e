package flow

import _ "embed"

//go:embed instructions/gm.md
var gmInstructions string

//go:embed instructions/player.md
var playerInstructions string

//go:embed instructions/journal-keeper.md
var keeperInstructions string
