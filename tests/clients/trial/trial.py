# A worker with one handler for each thing that test_clients.mjs looks at.
import logging
import sys

from pawl_worker import JobError, Refused, Worker

logging.basicConfig(level=logging.INFO, format="%(message)s")
worker = Worker(name="trial-python", concurrency=4, lease=float(sys.argv[1]), wait=1.0, grace=float(sys.argv[2]))


@worker.handler("trial.echo")
def echo(job):
    return {"input": job.input, "key": job.idempotency_key, "attempt": job.attempt, "progress": job.progress,
            "step": job.step, "execution": job.execution_id}


@worker.handler("trial.fail")
def fail(job):
    raise JobError(job.input["code"], job.input["message"], job.input["class"])


@worker.handler("trial.break")
def broken(job):
    raise KeyError("made up")


@worker.handler("trial.large")
def large(job):
    return "x" * job.input["bytes"]


@worker.handler("trial.slow")
def slow(job):
    job.report({"page": 1})
    if job.wait(job.input["ms"] / 1000):
        print("CANCELLED %s: %s" % (job.id, job.cancel_reason), flush=True)
        return "cancelled"
    return "slept"


@worker.handler("trial.deaf")
def deaf(job):
    import time
    time.sleep(job.input["ms"] / 1000)


@worker.handler("many.*")
def many(job):
    return job.type


try:
    worker.run()
except Refused as error:
    sys.exit("REFUSED %s" % error)
print("STOPPED", flush=True)
