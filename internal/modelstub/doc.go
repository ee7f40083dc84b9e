// Package modelstub is a model server on loopback that says what a script
// tells it to, so that the real agent programs run in tests without a network
// and without a key.
//
// It speaks Anthropic Messages (POST …/v1/messages, messages.go), OpenAI
// Responses (POST …/v1/responses, responses.go), Chat Completions (POST
// …/chat/completions, chat.go) and Gemini (POST …/models/NAME:generateContent,
// :streamGenerateContent and :countTokens, gemini.go), streaming or whole. A
// Handler looks at a Request and returns a Reply in words that all protocols
// share: blocks, usage, or a fault. Script is the Handler that most tests want.
//
// It refuses what it does not know with 404, checks no key, and keeps every
// request and the exact bytes of every answer in memory for the test to look
// at. It promises that handlers are called one at a time, and that Close
// returns only when no connection of it is left.
package modelstub
