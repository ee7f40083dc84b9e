// Package report tells what came of a gate in the forms that other programs
// read: SARIF 2.1.0 for code review, JUnit's XML for whoever counts tests, and
// Markdown for people who read it on a page of their CI.
//
// All three are made from a receipt's body and what is known about its file, and
// say nothing that does not stand there. A criterion that was not judged is never
// shown as one that was met: in SARIF it is an open result and makes the
// invocation unsuccessful, in JUnit it is an error, in Markdown it says so.
//
// A place in SARIF is a citation that was checked, in a file of the work; evidence
// without one has a result without a place. A citation that was not found is
// shown in words and marked.
//
// Criteria, evidence and paths are other people's words. What they bring of
// control characters is shown as package screen shows it; in Markdown they are
// text (markdown.Plain), in SARIF they hold no links, in JUnit nothing that XML
// has no character for. Markdown is at most a mebibyte, the limit of a summary on
// GitHub; what does not fit is left out, and that is said.
//
// Nothing is stored, nothing is opened.
package report
