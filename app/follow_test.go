package app

import (
	"testing"
	"time"

	"conclave/config"
)

// TestFollowSettings: how session files are followed is what the specification
// says, what the person's configuration says, and what the command says, the
// last first.
func TestFollowSettings(t *testing.T) {
	t.Parallel()
	d := DefaultFollow()
	if d.PollInterval != 250*time.Millisecond || d.DiscoveryInterval != time.Second || d.MaxReadBytes != 65536 || d.Quiet || d.NoRaw {
		t.Errorf("defaults %+v", d)
	}
	if got := d.settle(config.Stream{}); got != d {
		t.Errorf("nothing was said, and it is %+v", got)
	}
	set := config.Stream{Poll: time.Second, Discovery: 3 * time.Second, MaxReadBytes: 10, Quiet: true, NoRaw: true}
	got := d.settle(set)
	if got.PollInterval != set.Poll || got.DiscoveryInterval != set.Discovery || got.MaxReadBytes != 10 || !got.Quiet || !got.NoRaw {
		t.Errorf("configured %+v", got)
	}
	said := d
	said.PollInterval = time.Minute
	if got := said.settle(set); got.PollInterval != time.Minute {
		t.Errorf("the command's own interval is %v", got.PollInterval)
	}
}
