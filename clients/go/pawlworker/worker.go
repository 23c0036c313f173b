// Package pawlworker does jobs of Pawl in Go: one file, the standard library alone.
//
//	worker, err := pawlworker.New(pawlworker.Options{}) // PAWL_URL and PAWL_TOKEN
//	worker.Handle("shop.pack", func(ctx context.Context, job *pawlworker.Job) (any, error) {
//		return map[string]any{"box": 3}, nil
//	})
//	err = worker.Run(ctx) // until ctx is done
//
// What holds:
//   - A job is claimed only when a goroutine is free for it, and its lease is renewed while it is done.
//   - What a handler returns is the output. *JobError says how it failed; any other error, and a panic,
//     is a failure of the class Indeterminate, because nobody knows how far the handler came.
//   - Every request may be sent again: claims go under an Idempotency-Key, and the same answer to a
//     job may come twice. So a server that is away costs time and nothing else.
//   - The context of a handler whose lease is over is cancelled, and Job.CancelReason says why: the server
//     has said so, or the lease has run out by this machine's clock while the server was out of reach.
//   - What was done under Job.IdempotencyKey must not be done twice: an attempt that follows a lost
//     lease has the same key.
package pawlworker

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The classes of a failure.
const (
	Business      = "business"      // final
	Transient     = "transient"     // try again
	Indeterminate = "indeterminate" // it may have happened
)

const (
	answerMax     = 64 << 20 // bytes of one answer of the server
	backoffMax    = 30 * time.Second
	retryAfterMax = 300 // seconds that a server may ask for
)

// JobError is a failure that the process is told as it is; an empty Class is Business.
type JobError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Class   string `json:"class"`
}

func (e *JobError) Error() string { return e.Code + ": " + e.Message }

// Handler does a job; what it returns is written as JSON.
type Handler func(ctx context.Context, job *Job) (any, error)

// Job is one attempt at one step.
type Job struct {
	ID             string          `json:"id"`
	Type           string          `json:"type"`
	Input          json.RawMessage `json:"input"`
	IdempotencyKey string          `json:"idempotencyKey"`
	Attempt        int             `json:"attempt"`
	ExecutionID    string          `json:"executionId"`
	Step           string          `json:"step"`
	Progress       json.RawMessage `json:"progress"` // what an earlier attempt has reported, or nil
	LeaseToken     string          `json:"leaseToken"`

	cancel   context.CancelFunc
	over     chan struct{} // closed when it was answered, or is not answered any more
	changed  chan struct{} // there is progress to be sent
	beatNow  bool          // its lease began some time ago
	mu       sync.Mutex    // guards what follows
	leaseEnd time.Time
	isOver   bool
	reason   string
	report   any
	reports  bool
}

// Decode reads the input into what `into` points to.
func (j *Job) Decode(into any) error { return json.Unmarshal(j.Input, into) }

// CancelReason says why the context was cancelled; empty: it was not.
func (j *Job) CancelReason() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.reason
}

// Report keeps progress (any JSON, 64 KiB at most) with the job: the next heartbeat takes it.
func (j *Job) Report(progress any) {
	j.mu.Lock()
	j.report, j.reports = progress, true
	j.mu.Unlock()
	select {
	case j.changed <- struct{}{}:
	default:
	}
}

// end is true for who ends it first.
func (j *Job) end() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	first := !j.isOver
	if first {
		close(j.over)
	}
	j.isOver = true
	return first
}

func (j *Job) leaseEnds() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.leaseEnd
}

func (j *Job) takeReport() (any, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	reports := j.reports
	j.reports = false
	return j.report, reports
}

func (j *Job) lose(reason string) {
	j.mu.Lock()
	lost := !j.isOver && j.reason == ""
	if lost {
		j.reason = reason
	}
	j.mu.Unlock()
	if lost {
		log.Printf("pawl: job %s of %s: %s", j.ID, j.Type, reason)
		j.cancel()
	}
}

// Options of a worker; what is zero has its default.
type Options struct {
	URL, Token  string        // PAWL_URL, PAWL_TOKEN
	Name        string        // for people; host and process
	Concurrency int           // jobs at a time; 4
	Lease       time.Duration // of a job; 60s
	Wait        time.Duration // of a claim for jobs; 10s
	Grace       time.Duration // of handlers at a stop; 20s
}

// Worker claims jobs and gives each to the handler of its type.
type Worker struct {
	options  Options
	handlers map[string]Handler
	client   *http.Client
	stop     context.Context // done: no more claims
	stopNow  context.CancelFunc
	slots    chan struct{}
	mu       sync.Mutex // guards running
	running  map[*Job]bool
	working  sync.WaitGroup
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func firstOf(a, b time.Duration) time.Duration {
	if a != 0 {
		return a
	}
	return b
}

// New makes a worker without handlers.
func New(o Options) (*Worker, error) {
	o.URL = strings.TrimRight(first(o.URL, os.Getenv("PAWL_URL"), "http://127.0.0.1:7070"), "/")
	o.Token = first(o.Token, os.Getenv("PAWL_TOKEN"))
	host, _ := os.Hostname()
	o.Name = first(o.Name, fmt.Sprintf("%s-%d", host, os.Getpid()))
	if o.Concurrency == 0 {
		o.Concurrency = 4
	}
	o.Lease, o.Wait, o.Grace = firstOf(o.Lease, time.Minute), firstOf(o.Wait, 10*time.Second), firstOf(o.Grace, 20*time.Second)
	if u, err := url.Parse(o.URL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("PAWL_URL is an address such as http://127.0.0.1:7070")
	}
	if o.Token == "" {
		return nil, errors.New("PAWL_TOKEN has no token: pawl user add NAME --role worker makes one")
	}
	if o.Concurrency < 1 || o.Concurrency > 100 {
		return nil, errors.New("concurrency is 1 to 100")
	}
	transport := &http.Transport{MaxIdleConnsPerHost: o.Concurrency + 1, IdleConnTimeout: 30 * time.Second}
	return &Worker{options: o, handlers: map[string]Handler{}, client: &http.Client{Transport: transport},
		slots: make(chan struct{}, o.Concurrency), running: map[*Job]bool{}}, nil
}

// Handle registers a handler for a procedure, shop.pack, or a pattern, shop.*; the longest that fits counts.
func (w *Worker) Handle(typeName string, handler Handler) { w.handlers[typeName] = handler }

func (w *Worker) handlerOf(typeName string) Handler {
	best := ""
	for t := range w.handlers {
		if t == typeName {
			return w.handlers[t]
		}
		if strings.HasSuffix(t, ".*") && strings.HasPrefix(typeName, t[:len(t)-1]) && len(t) > len(best) {
			best = t
		}
	}
	return w.handlers[best]
}

// reply is what the server has said; status 0: there was no whole answer.
type reply struct {
	status     int
	retryAfter time.Duration
	body       []byte
}

func (w *Worker) ask(path string, body any, timeout time.Duration, key string) reply {
	text, err := json.Marshal(body)
	if err != nil {
		return reply{}
	}
	ctx, done := context.WithTimeout(context.Background(), timeout)
	defer done()
	request, err := http.NewRequestWithContext(ctx, "POST", w.options.URL+"/api/v1"+path, bytes.NewReader(text))
	if err != nil {
		return reply{}
	}
	request.Header.Set("Authorization", "Bearer "+w.options.Token)
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	answer, err := w.client.Do(request)
	if err != nil {
		return reply{}
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, answerMax+1))
	if err != nil || len(raw) > answerMax {
		return reply{}
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	if seconds < 0 || seconds > retryAfterMax {
		seconds = retryAfterMax
	}
	return reply{answer.StatusCode, time.Duration(seconds) * time.Second, raw}
}

// detail is what a refusal says.
func (r reply) detail() string {
	var problem struct {
		Title, Detail string
		Errors        []struct{ Message string }
	}
	_ = json.Unmarshal(r.body, &problem)
	if len(problem.Errors) > 0 {
		return problem.Errors[0].Message
	}
	return first(problem.Detail, problem.Title, "no reason given")
}

// backoff is twice as long each time, spread, and no less than the server has asked for.
func backoff(tries int, r reply, most time.Duration) time.Duration {
	pause := most
	if tries <= 10 {
		pause = shorter(most, 100*time.Millisecond<<(tries-1))
	}
	var raw [4]byte
	_, _ = rand.Read(raw[:])
	part := 0.5 + float64(binary.LittleEndian.Uint32(raw[:]))/(2<<32)
	if pause = time.Duration(float64(pause) * part); pause < r.retryAfter {
		return r.retryAfter
	}
	return pause
}

func shorter(a, b time.Duration) time.Duration {
	if a < b {
		return a
	}
	return b
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func newKey() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw)
	return fmt.Sprintf("%x", raw)
}

func text(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }

// claim asks until there is an answer. An error: the server refuses this worker.
func (w *Worker) claim(most int) ([]*Job, error) {
	types := make([]string, 0, len(w.handlers))
	for t := range w.handlers {
		types = append(types, t)
	}
	sort.Strings(types)
	body := map[string]any{"types": types, "max": most, "wait": text(w.options.Wait),
		"lease": text(w.options.Lease), "worker": w.options.Name}
	key := newKey()
	for tries := 1; ; tries++ {
		wasStopping := w.stop.Err() != nil
		r := w.ask("/jobs/claim", body, w.options.Wait+15*time.Second, key)
		var found struct{ Items []*Job }
		if r.status == 200 && json.Unmarshal(r.body, &found) == nil {
			for _, job := range found.Items {
				job.over, job.changed = make(chan struct{}), make(chan struct{}, 1)
				job.leaseEnd, job.beatNow = time.Now().Add(w.options.Lease), tries > 1
			}
			return found.Items, nil
		}
		switch {
		case r.status == 409:
			key = newKey()
		case r.status >= 300 && r.status < 500 && r.status != 408 && r.status != 429:
			return nil, fmt.Errorf("the server refuses to give jobs (%d): %s", r.status, r.detail())
		}
		if tries == 1 || tries%20 == 0 {
			log.Printf("pawl: the server gives no jobs (status %d), trying again", r.status)
		}
		// Once more at a stop: jobs may have been leased by the claim whose answer was lost.
		if wasStopping {
			return nil, nil
		}
		sleep(w.stop, backoff(tries, r, backoffMax))
	}
}

// beat renews the lease until the job is over.
func (w *Worker) beat(ctx context.Context, job *Job) {
	every := w.options.Lease / 3
	least := shorter(time.Second, every) // between two heartbeats, however often progress is reported
	last := time.Now()
	due := last.Add(every)
	if job.beatNow {
		due = last
	}
	reports := job.changed
	for {
		timer := time.NewTimer(time.Until(due))
		select {
		case <-job.over:
		case <-ctx.Done():
		case <-reports:
			reports = nil // until it is sent
			if soon := last.Add(least); soon.Before(due) {
				due = soon
			}
			timer.Stop()
			continue
		case <-timer.C:
			last, reports = time.Now(), job.changed
			due = w.renew(job, last, every)
			continue
		}
		timer.Stop()
		return
	}
}

// renew sends one heartbeat, and answers when the next is due.
func (w *Worker) renew(job *Job, sentAt time.Time, every time.Duration) time.Time {
	body := map[string]any{"leaseToken": job.LeaseToken}
	report, reports := job.takeReport()
	if reports {
		body["progress"] = report
	}
	var r reply
	if left := job.leaseEnds().Sub(sentAt); left > 0 {
		r = w.ask("/jobs/"+job.ID+"/heartbeat", body, shorter(every, left)+50*time.Millisecond, "")
	}
	switch {
	case r.status == 200:
		job.mu.Lock()
		job.leaseEnd = sentAt.Add(w.options.Lease)
		job.mu.Unlock()
		return sentAt.Add(every)
	case r.status == 404 || r.status == 409:
		job.lose("the lease is over: " + r.detail())
	case !time.Now().Before(job.leaseEnds()):
		job.lose("the lease has run out; the server was not reached in time")
	case reports && (r.status == 400 || r.status == 413 || r.status == 422):
		log.Printf("pawl: job %s: its progress is refused: %s", job.ID, r.detail())
		return sentAt // without it, at once
	default:
		job.mu.Lock()
		if reports && !job.reports {
			job.report, job.reports = report, true
		}
		job.mu.Unlock()
	}
	// Tried again soon; in time to say that the lease has run out.
	next := time.Now().Add(every / 2)
	if end := job.leaseEnds(); end.Before(next) {
		return end
	}
	return next
}

// send answers a job until the server has heard it. False: it is not wanted any more.
func (w *Worker) send(job *Job, what string, body map[string]any) bool {
	body["leaseToken"] = job.LeaseToken
	for tries := 1; ; tries++ {
		r := w.ask("/jobs/"+job.ID+"/"+what, body, 30*time.Second, "")
		switch {
		case r.status == 200:
			return true
		case r.status == 404 || r.status == 409:
			return false
		case r.status >= 300 && r.status < 500 && r.status != 401 && r.status != 403 && r.status != 408 && r.status != 429:
			log.Printf("pawl: job %s: its answer is refused (%d): %s", job.ID, r.status, r.detail())
			if what != "complete" {
				return false
			}
			what, body = "fail", failure("answer_refused", r.detail(), Indeterminate)
			body["leaseToken"] = job.LeaseToken
			continue
		}
		job.mu.Lock()
		isOver := job.isOver
		job.mu.Unlock()
		if time.Now().After(job.leaseEnds().Add(w.options.Lease)) || (isOver && tries >= 3) {
			return false
		}
		time.Sleep(backoff(tries, r, w.options.Lease/4))
	}
}

func failure(code, message, class string) map[string]any {
	if len(message) > 2000 {
		message = strings.ToValidUTF8(message[:2000], "")
	}
	return map[string]any{"error": JobError{code, message, first(class, Business)}}
}

// do calls the handler; what its answer is, and how it is sent.
func (w *Worker) do(ctx context.Context, job *Job) (what string, body map[string]any) {
	defer func() {
		if p := recover(); p != nil {
			log.Printf("pawl: job %s of %s: panic: %v", job.ID, job.Type, p)
			what, body = "fail", failure("worker_error", fmt.Sprint("panic: ", p), Indeterminate)
		}
	}()
	output, err := w.handlerOf(job.Type)(ctx, job)
	if err == nil {
		_, err = json.Marshal(output)
	}
	var known *JobError
	switch {
	case err == nil:
		return "complete", map[string]any{"output": output}
	case errors.As(err, &known):
		return "fail", failure(known.Code, known.Message, known.Class)
	}
	log.Printf("pawl: job %s of %s: %v", job.ID, job.Type, err)
	return "fail", failure("worker_error", err.Error(), Indeterminate)
}

func (w *Worker) work(job *Job) {
	ctx, cancel := context.WithCancel(context.Background())
	job.cancel = cancel
	w.mu.Lock()
	w.running[job] = true
	w.mu.Unlock()
	w.working.Add(1)
	go w.beat(ctx, job)
	go func() {
		what, body := w.do(ctx, job)
		select {
		case <-job.over: // given up at a stop
		default:
			if !w.send(job, what, body) {
				log.Printf("pawl: job %s: its answer is not wanted any more", job.ID)
			}
		}
		job.end()
		cancel()
		w.mu.Lock()
		delete(w.running, job)
		w.mu.Unlock()
		<-w.slots
		w.working.Done()
	}()
}

func (w *Worker) takeJobs() error {
	for w.stop.Err() == nil {
		select {
		case w.slots <- struct{}{}: // wait for a free one
			<-w.slots
		case <-w.stop.Done():
			return nil
		}
		jobs, err := w.claim(w.options.Concurrency - len(w.slots))
		if err != nil {
			return err
		}
		for _, job := range jobs {
			if w.stop.Err() != nil {
				job.end()
				w.send(job, "return", map[string]any{})
				continue
			}
			w.slots <- struct{}{}
			w.work(job)
		}
	}
	return nil
}

// Run works until ctx is done; then handlers have Options.Grace to end, and what is left is failed as
// Indeterminate. An error: the server refuses this worker.
func (w *Worker) Run(ctx context.Context) error {
	if len(w.handlers) == 0 {
		return errors.New("the worker has no handlers")
	}
	w.stop, w.stopNow = context.WithCancel(ctx)
	defer w.stopNow()
	err := make(chan error, 1)
	go func() { err <- w.takeJobs() }()
	var refused error
	select {
	case refused = <-err:
	case <-w.stop.Done():
	}
	w.stopNow()
	w.finish(err, refused != nil)
	return refused
}

func (w *Worker) finish(taken chan error, isTaken bool) {
	log.Printf("pawl: stopping; jobs under way: %d", len(w.left()))
	grace := time.NewTimer(w.options.Grace)
	defer grace.Stop()
	if !isTaken {
		<-taken // its poll ends by itself: what it is given goes back
	}
	ended := make(chan struct{})
	go func() { w.working.Wait(); close(ended) }()
	select {
	case <-ended:
		return
	case <-grace.C:
	}
	for _, job := range w.left() {
		job.lose("the worker stops")
	}
	select {
	case <-ended:
		return
	case <-time.After(time.Second):
	}
	for _, job := range w.left() {
		if job.end() {
			w.send(job, "fail", failure("worker_stopped", "the worker was stopped amid the job", Indeterminate))
		}
	}
}

func (w *Worker) left() []*Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	var jobs []*Job
	for job := range w.running {
		jobs = append(jobs, job)
	}
	return jobs
}
