package browser

import (
	"fmt"
	"testing"
)

// What ends while the page reads what runs is seen to have ended: the answer that is
// under way is older than what was heard meanwhile.
func TestJobThatEndsWhileItIsRead(t *testing.T) {
	p := enters(t, serve(t, world(t)))
	p.visit("/table")
	_, err := Eval[bool](p.tab, fmt.Sprintf(`(async () => {
		const { api, on } = %s, real = self.fetch;
		const ended = new Promise(done => on('done', done));
		let held = false;
		const read = new Promise(begun => {
			self.fetch = async (path, options) => {
				const answer = await real(path, options);
				if (held || path !== '/api/jobs' || options.method !== 'GET') return answer;
				held = true;
				const text = await answer.text();
				begun(JSON.parse(text).jobs[0]);
				await ended;
				return new Response(text, { status: answer.status });
			};
		});
		await api('/api/jobs', { body: { verb: 'TalkNewTable', args: ['held', ''] } });
		const { job } = await read;
		await real('/api/jobs/' + job + '/stop', { method: 'POST', body: '{}',
			headers: { Authorization: 'Bearer ' + sessionStorage.getItem('conclave-token') } });
		return true;
	})()`, core))
	if err != nil {
		t.Fatal(err)
	}
	p.wait(`document.querySelector('article[data-verb=TalkNewTable] .state.idle')`)
	p.clean()
}
