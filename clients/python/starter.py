"""A worker to begin with: copy it, put your own handlers in. python3 starter.py [LEASE_SECONDS]"""

import logging
import sys

from pawl_worker import JobError, Refused, Worker

logging.basicConfig(level=logging.INFO, format="pawl: %(message)s")
worker = Worker(lease=float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)


@worker.handler("workshop.cut")
def cut(job):
    length = job.input.get("length", 0)
    if length <= 0:
        raise JobError("no_length", "there is nothing to cut")
    return {"pieces": int(length // 10), "by": "python"}


@worker.handler("workshop.*")
def other(job):
    job.report({"begun": job.step})
    return {"did": job.type, "by": "python"}


try:
    worker.run()
except Refused as refused:
    sys.exit(str(refused))
