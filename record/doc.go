// Package record keeps the durable log of one run in one append-only file.
//
// # What it stores
//
// A file is eight bytes of magic and version, then frames. A frame is
//
//	length u32 | kind u8 | flags u8 | reserved u16 | crc32c of these 8 bytes
//	digest [32]byte = SHA-256(salt ‖ payload)
//	salt [16]byte, payload        (both absent when the frame is withheld)
//
// with all integers little-endian. Header, Log, Blob and Seal frames are
// chained: head = SHA-256(previous head ‖ length ‖ kind ‖ digest), beginning
// with SHA-256(magic). The chain goes over digests, and flags are not in it,
// so a payload can be withheld and the rest still verifies to the same head.
// Mark frames are not chained: they say of this file how much of it had been
// made durable, and a copy has marks of its own. docs/record-format.md is the
// whole format.
//
// # What it promises
//
// When Commit returns nil, everything appended before it is on the disk
// (fdatasync) and survives the death of the process and of the machine. Each
// commit writes its batch, syncs, writes a mark and only then answers;
// concurrent callers share one sync. Without a Commit, appends are held in
// memory up to 256 KiB or 100 ms, and are synced by themselves once 32 MiB or
// two seconds are outstanding; both are looked at within Append, there is no
// timer. Whoever appends more than 256 KiB at a stretch does not wait for it: a
// goroutine gives frames their digests, writes and syncs them in order, until it
// has caught up, and an append waits when 4 MiB are in front of it.
//
// Any error of writing or syncing ends the writer: that call and all later
// ones return it; of what failed beside, the next one. A turn that cannot be
// recorded has to stop.
//
// A file that ends within a frame, or in zeros where a power cut left
// unwritten blocks, has a torn tail. Nobody was told that it is durable;
// Resume cuts it, says so, and puts a line about it on the record. Anything
// else that does not verify is damage: reported with its place, never cut,
// never skipped, never written behind.
//
// # What it refuses
//
// A second writer, in this process or another one (the sibling file
// "<record>.lock" names the holder); an existing path in Create; a sealed
// record and a copy with withheld payloads in Resume; log lines that hold a
// newline; payloads over 1 GiB.
//
// # What it does not prove
//
// The chain shows a change to whoever knows an earlier head: from the receipt,
// the bundle, another machine. It does not bind the person who owns the file
// and may write a new one. docs/threat-model.md says more.
package record
