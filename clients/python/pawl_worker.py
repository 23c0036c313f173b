"""pawl_worker - do jobs of Pawl in Python 3: one file, the standard library alone.

    worker = Worker()                       # PAWL_URL and PAWL_TOKEN

    @worker.handler("shop.pack")
    def pack(job):
        return {"box": job.input["order"]}

    worker.run()                            # until SIGTERM or SIGINT

What holds:
- A job is claimed only when a thread is free for it, and its lease is renewed while it is done.
- What a handler returns is the output. JobError says how it failed; any other exception is a
  failure of the class `indeterminate`, because nobody knows how far the handler came.
- Every request may be sent again: claims go under an Idempotency-Key, and the same answer to a
  job may come twice. So a server that is away costs time and nothing else.
- A handler whose lease is over learns it (job.is_cancelled, job.wait): the server has said so,
  or the lease has run out by this machine's clock while the server could not be reached.
- What was done under job.idempotency_key must not be done twice: an attempt that follows a lost
  lease has the same key.
"""

import http.client
import json
import logging
import os
import queue
import random
import signal
import socket
import ssl
import threading
import time
import urllib.parse
import uuid

log = logging.getLogger("pawl_worker")

ANSWER_MAX = 64 * 1024 * 1024  # bytes of one answer of the server
BACKOFF_MAX = 30.0  # seconds between two tries
RETRY_AFTER_MAX = 300.0  # seconds that a server may ask for


class JobError(Exception):
    """The handler's work failed. `error_class` is business (final), transient (try again) or
    indeterminate (it may have happened)."""

    def __init__(self, code, message, error_class="business"):
        super().__init__(message)
        self.code = code
        self.message = message
        self.error_class = error_class


class Refused(Exception):
    """The server refuses this worker: its token, its types. Trying again would not help."""


class Job:
    """One attempt at one step. `progress` is what an earlier attempt has reported, or None."""

    def __init__(self, worker, fields, claimed_at, is_repeated):
        self.id = fields["id"]
        self.type = fields["type"]
        self.input = fields.get("input")
        self.idempotency_key = fields["idempotencyKey"]
        self.attempt = fields["attempt"]
        self.execution_id = fields["executionId"]
        self.step = fields["step"]
        self.progress = fields.get("progress")
        self.cancel_reason = None
        self._worker = worker
        self._token = fields["leaseToken"]
        self._lease_end = claimed_at + worker.lease
        self._beat_now = is_repeated  # its lease began some time ago
        self._cancelled = threading.Event()
        self._changed = threading.Condition()  # guards what follows
        self._has_report = False
        self._report = None
        self._is_over = False  # it was answered, or is not answered any more

    @property
    def is_cancelled(self):
        """Whether the lease is over, or the worker stops: the work is not wanted any more."""
        return self._cancelled.is_set()

    def wait(self, seconds):
        """Sleep; True when the job was cancelled meanwhile."""
        return self._cancelled.wait(seconds)

    def report(self, progress):
        """Keep `progress` (any JSON, 64 KiB at most) with the job: the next heartbeat takes it."""
        with self._changed:
            self._report = progress
            self._has_report = True
            self._changed.notify_all()

    def _cancel(self, reason):
        with self._changed:
            if self._is_over or self.is_cancelled:
                return
            self.cancel_reason = reason
            self._cancelled.set()
            self._changed.notify_all()
        log.warning("job %s of %s: %s", self.id, self.type, reason)

    def _end(self):
        """True for who ends it first."""
        with self._changed:
            is_first = not self._is_over
            self._is_over = True
            self._changed.notify_all()
        return is_first

    def _beat(self):
        """Renew the lease until the job is over; the thread of each job."""
        every = self._worker.lease / 3
        least = min(1.0, every)  # between two heartbeats, however often progress is reported
        last = time.monotonic()
        due = last if self._beat_now else last + every
        while True:
            with self._changed:
                while not self._is_over and not self.is_cancelled:
                    left = (min(due, last + least) if self._has_report else due) - time.monotonic()
                    if left <= 0:
                        break
                    self._changed.wait(left)
                if self._is_over or self.is_cancelled:
                    return
            last = time.monotonic()
            due = self._renew(last, every)

    def _renew(self, sent_at, every):
        """One heartbeat; when the next is due."""
        body = {"leaseToken": self._token}
        with self._changed:
            has_report, self._has_report = self._has_report, False
            if has_report:
                body["progress"] = self._report
        status, answer, left = 0, None, self._lease_end - sent_at
        if left > 0:
            status, _, answer = self._worker._ask(
                "/jobs/%s/heartbeat" % self.id, body, timeout=min(every, left) + 0.05)
        if status == 200:
            self._lease_end = sent_at + self._worker.lease
            return sent_at + every
        if status in (404, 409):
            self._cancel("the lease is over: %s" % detail(answer))
        elif time.monotonic() >= self._lease_end:
            self._cancel("the lease has run out; the server was not reached in time")
        elif has_report and status in (400, 413, 422):
            log.error("job %s: its progress is refused: %s", self.id, detail(answer))
            return sent_at  # without it, at once
        else:
            with self._changed:
                self._has_report = self._has_report or has_report
        # Tried again soon; in time to say that the lease has run out.
        return min(time.monotonic() + every / 2, self._lease_end)


class Worker:
    """Claims jobs and gives each to the handler of its type, `concurrency` at a time. Times are
    seconds: `lease` of a job, `wait` of a claim for jobs, `grace` of handlers at a stop."""

    def __init__(self, url=None, token=None, name=None, concurrency=4, lease=60.0, wait=10.0,
                 grace=20.0):
        parts = urllib.parse.urlsplit(url or os.environ.get("PAWL_URL") or "http://127.0.0.1:7070")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("PAWL_URL is an address such as http://127.0.0.1:7070")
        self.token = token or os.environ.get("PAWL_TOKEN")
        if not self.token:
            raise ValueError("PAWL_TOKEN has no token: pawl user add NAME --role worker makes one")
        if not 1 <= concurrency <= 100:
            raise ValueError("concurrency is 1 to 100")
        self.name = name or "%s-%d" % (socket.gethostname(), os.getpid())
        self.concurrency = concurrency
        self.lease = float(lease)
        self.wait = float(wait)
        self.grace = float(grace)
        self._address = parts
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._kept = threading.local()  # a connection of each thread
        self._handlers = {}
        self._stopping = threading.Event()
        self._jobs = queue.Queue()
        self._free = concurrency
        self._changed = threading.Condition()
        self._running = set()

    # --- handlers ---

    def register(self, type_name, handler):
        """`type_name` is a procedure, shop.pack, or a pattern, shop.*; the longest that fits counts."""
        self._handlers[type_name] = handler

    def handler(self, type_name):
        def add(function):
            self.register(type_name, function)
            return function

        return add

    def _handler_of(self, type_name):
        if type_name in self._handlers:
            return self._handlers[type_name]
        fitting = [t for t in self._handlers if t.endswith(".*") and type_name.startswith(t[:-1])]
        return self._handlers[max(fitting, key=len)]

    # --- requests ---

    def _connect(self, timeout):
        a = self._address
        if self._tls:
            return http.client.HTTPSConnection(a.hostname, a.port, timeout=timeout, context=self._tls)
        return http.client.HTTPConnection(a.hostname, a.port, timeout=timeout)

    def _ask(self, path, body, timeout=30.0, key=None):
        """(status, headers, body): status 0 when there was no whole answer."""
        text = json.dumps(body, allow_nan=False)
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        for is_kept in (True, False):  # a kept connection may have been closed meanwhile
            connection = getattr(self._kept, "connection", None) if is_kept else None
            if is_kept and connection is None:
                continue
            try:
                connection = connection or self._connect(timeout)
                self._kept.connection = connection
                connection.timeout = timeout
                if connection.sock:
                    connection.sock.settimeout(timeout)
                connection.request("POST", self._address.path.rstrip("/") + "/api/v1" + path, text, headers)
                answer = connection.getresponse()
                raw = answer.read(ANSWER_MAX + 1)
                if len(raw) > ANSWER_MAX:
                    raise http.client.HTTPException("the answer is too large")
                return answer.status, answer.headers, read_json(raw)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self._kept.connection = None
                if not is_kept or isinstance(error, TimeoutError):
                    log.info("%s: %s", path, error)
                    return 0, {}, None
        return 0, {}, None

    # --- claiming ---

    def _claim(self, most):
        key = str(uuid.uuid4())
        body = {"types": sorted(self._handlers), "max": most, "wait": seconds(self.wait),
                "lease": seconds(self.lease), "worker": self.name}
        tries = 0
        while True:
            was_stopping = self._stopping.is_set()
            status, headers, answer = self._ask("/jobs/claim", body, self.wait + 15.0, key)
            if status == 200 and isinstance(answer, dict):
                now = time.monotonic()
                return [Job(self, fields, now, tries > 0) for fields in answer["items"]]
            if status not in (0, 200, 408, 409, 429) and status < 500:
                raise Refused("the server refuses to give jobs (%d): %s" % (status, detail(answer)))
            if status == 409:
                key = str(uuid.uuid4())
            tries += 1
            if tries == 1 or tries % 20 == 0:
                log.warning("the server gives no jobs (%s), trying again", status or "no answer")
            # Once more at a stop: jobs may have been leased by the claim whose answer was lost.
            if was_stopping:
                return []
            self._stopping.wait(backoff(tries, headers))

    def _take_jobs(self):
        while not self._stopping.is_set():
            with self._changed:
                while self._free == 0 and not self._stopping.is_set():
                    self._changed.wait(1.0)
                most = self._free
            if self._stopping.is_set():
                return
            for job in self._claim(most):
                if self._stopping.is_set():
                    job._end()
                    self._send(job, "return", {})
                    continue
                with self._changed:
                    self._free -= 1
                    self._running.add(job)
                self._jobs.put(job)

    # --- doing ---

    def _work(self):
        while True:
            job = self._jobs.get()
            threading.Thread(target=job._beat, daemon=True).start()
            try:
                what, body = self._do(job)
                if job._is_over or not self._send(job, what, body):
                    log.warning("job %s: its answer is not wanted any more", job.id)
            finally:
                job._end()
                with self._changed:
                    self._free += 1
                    self._running.discard(job)
                    self._changed.notify_all()

    def _do(self, job):
        try:
            output = self._handler_of(job.type)(job)
            json.dumps(output, allow_nan=False)
            return "complete", {"output": output}
        except JobError as error:
            return "fail", failure(error.code, error.message, error.error_class)
        except Exception as error:  # pylint: disable=broad-except
            log.exception("job %s of %s failed", job.id, job.type)
            return "fail", failure("worker_error", "%s: %s" % (type(error).__name__, error), "indeterminate")

    def _send(self, job, what, body):
        """Answer a job until the server has heard it. False: it is not wanted any more."""
        tries = 0
        while True:
            status, headers, answer = self._ask("/jobs/%s/%s" % (job.id, what), {"leaseToken": job._token, **body})
            if status == 200:
                return True
            if status in (404, 409):
                return False
            if status not in (0, 401, 403, 408, 429) and status < 500:
                log.error("job %s: its answer is refused (%d): %s", job.id, status, detail(answer))
                if what != "complete":
                    return False
                what, body = "fail", failure("answer_refused", detail(answer), "indeterminate")
                continue
            tries += 1
            if time.monotonic() > job._lease_end + self.lease or (job._is_over and tries >= 3):
                return False
            time.sleep(backoff(tries, headers, most=self.lease / 4))

    # --- running ---

    def stop(self):
        """Claim no more; run() returns when what is under way has ended or was given back."""
        self._stopping.set()

    def _on_signal(self, number, _frame):
        signal.signal(number, signal.SIG_DFL)  # the second one ends it at once
        self.stop()

    def run(self):
        """Work until stop(), SIGTERM or SIGINT. Raises Refused when the server refuses the worker."""
        if not self._handlers:
            raise ValueError("the worker has no handlers")
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._on_signal)
        refused = []

        def take():
            try:
                self._take_jobs()
            except Refused as error:
                refused.append(error)
                self.stop()

        for _ in range(self.concurrency):
            threading.Thread(target=self._work, daemon=True).start()
        taker = threading.Thread(target=take, daemon=True)
        taker.start()
        while not self._stopping.wait(0.5):
            pass
        self._finish(taker)
        if refused:
            raise refused[0]

    def _finish(self, taker):
        """Let handlers end by themselves for `grace`; what is left is failed as indeterminate."""
        log.warning("stopping; jobs under way: %d", len(self._running))
        until = time.monotonic() + self.grace
        taker.join(self.wait + 15.0)  # its poll ends by itself: what it is given goes back
        self._wait_for_jobs(until)
        for job in list(self._running):
            job._cancel("the worker stops")
        self._wait_for_jobs(time.monotonic() + 1.0)
        for job in list(self._running):
            if job._end():
                self._send(job, "fail", failure("worker_stopped", "the worker was stopped amid the job", "indeterminate"))

    def _wait_for_jobs(self, until):
        with self._changed:
            while self._running and time.monotonic() < until:
                self._changed.wait(max(0.01, until - time.monotonic()))


def failure(code, message, error_class):
    return {"error": {"code": code, "message": message[:2000], "class": error_class}}


def seconds(number):
    return "%dms" % round(number * 1000)


def read_json(raw):
    try:
        return json.loads(raw)
    except ValueError:
        return None


def detail(answer):
    """What a refusal says."""
    if not isinstance(answer, dict):
        return "no reason given"
    first = (answer.get("errors") or [{}])[0].get("message")
    return str(first or answer.get("detail") or answer.get("title"))


def backoff(tries, headers, most=BACKOFF_MAX):
    """Seconds until the next try: twice as long each time, spread, and no less than was asked for."""
    pause = min(most, 0.1 * 2 ** min(tries - 1, 20)) * random.uniform(0.5, 1.0)
    asked = headers.get("Retry-After", "") if headers else ""
    return max(pause, min(RETRY_AFTER_MAX, float(asked))) if asked.isdigit() else pause
