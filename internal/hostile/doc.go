// Package hostile makes workspaces as somebody makes them who means harm: on
// top of a plain one, a link, a device, a program, a git configuration, a name.
// It is for tests only.
//
// Each Workspace is one hostile element, in all the places where a command
// could meet it, and has a harmless twin: the plain workspace, or a shape of
// its own without the element. Each says what a careless program would do with
// it, as a shell script, so that a test can show that the element is alive: a
// workspace that harms nobody proves nothing.
//
// What lies outside of the workspace and must never be seen holds the canary;
// what is planted to be run leaves a mark. The package judges nothing: running
// every command in every workspace is what its tests do.
//
// It needs Linux: devices, FIFOs and names of any bytes are made for real.
package hostile
