// Package gateway is the only way out of a room: it speaks to the model for
// the agent inside, holds the key, records what was sent and received, and
// limits host, model and budget.
//
// A Gateway serves one room for one turn. Connections come through ServeConn
// (or ServeHTTP); the agent's program shows the room's token, which is worth
// nothing elsewhere. The gateway takes the token off, adds the key, and sends
// the request to the one upstream that it was given. Nothing that a request
// says can change that address, and redirects are not followed.
//
// # What it refuses
//
// Whatever lacks the token; every path but those of the one API that its
// upstream speaks (see Kind) and of its list of models; models that are not on the list (an empty
// list allows none); requests that are too large, compressed, or hold the key;
// calls beyond the budget; and whatever would put something before the model that is not in the request's own bytes:
// tools that run at the provider, addresses that it would fetch, files and
// conversations that it keeps. What could be read in two ways is not judged but
// refused: a key that stands twice in one object, in whatever case, and one that
// is spelt as that API spells none. A tool whose type is not known, to the
// letter, is taken to run at the provider. Of a request's headers and of the
// parameters of its address the known ones go out, and a key is not among them.
// A refusal is an error in the words of the API that was asked, so that the
// agent's program shows it; it names the rule and the way out.
//
// A room can take so much of the gateway and no more (Limits): connections,
// bytes of requests that are under way, time for a head, for a body and between
// two requests. Beyond that it is refused, or shown out.
//
// # What it records
//
// The bytes of every request that passed, before they are sent, and the bytes
// of its response, before they are passed on, as blobs of the channels
// "gateway.request/ID" and "gateway.response/ID": the blobs of one channel,
// joined, are the body as it went over the wire. An event
// "gateway.request" with the head precedes each; "gateway.response" follows
// with status, sizes, digests, usage and times. Refused requests are on the
// record too, as the event "gateway.refused" and, where one was read, a blob of
// "gateway.refused/ID"; beyond a thousand they are only counted. Compression is declined on behalf of the
// agent, so that the record can be read. Neither the key nor an authentication
// header is ever recorded.
//
// # What it promises
//
// Bytes of a response are passed on as they are, as they come: nothing is
// decoded, nothing is put together anew, nothing waits for more. What cannot
// be recorded does not happen: a request is not sent, a stream is cut, and
// from then on everything is refused. A stream that the model's server cut is
// cut for the agent as well. When the agent's program goes away, its request
// at the model's server is cancelled. The key reaches neither the room nor the
// record, even if the model's server repeats it: the stream is cut before it.
// It is known as it is, in the escapes of JSON and of addresses, in base64 and
// hexadecimal digits, in pieces of the network and told piece by piece by one
// event after the other; not in forms that only a program of its own undoes. An
// answer that is compressed against our wish is not passed on.
//
// Nothing is paid twice: when a turn is asked again because it was cut, a request
// that equals one of the cut attempt to the byte is given the answer that the
// record has (Options.Answered), once, as the event "gateway.replayed".
//
// A budget is held within a call: one that it does not cover is refused, and an
// answer that passes it while it streams is cut, a piece of the network late at
// most: between two events, behind an error in the API's own form that says so,
// before the connection breaks. What has been streamed is counted by its words until its usage is told,
// and a request by its length, with pictures for what pictures cost; the usage
// of an answer that was cut, by whomever, stays an estimate, and the Summary
// says of which exchanges that is so. An answer that comes whole is paid for,
// and is passed on. Requests are not rewritten to fit. Costs are list prices
// (see Price). An Account, which several gateways share, is stricter: what a
// call can cost at most, as far as that is known, is set aside before it is
// sent; it, too, cuts what passes it.
package gateway
