// A worker to begin with: copy it, put your own handlers in. starter [LEASE_SECONDS]
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"pawl/pawlworker"
)

func cut(_ context.Context, job *pawlworker.Job) (any, error) {
	var input struct{ Length float64 }
	if err := job.Decode(&input); err != nil {
		return nil, err
	}
	if input.Length <= 0 {
		return nil, &pawlworker.JobError{Code: "no_length", Message: "there is nothing to cut"}
	}
	return map[string]any{"pieces": int(input.Length / 10), "by": "go"}, nil
}

func other(_ context.Context, job *pawlworker.Job) (any, error) {
	job.Report(map[string]string{"begun": job.Step})
	return map[string]any{"did": job.Type, "by": "go"}, nil
}

func main() {
	var options pawlworker.Options
	if len(os.Args) > 1 {
		seconds, _ := strconv.ParseFloat(os.Args[1], 64)
		options.Lease = time.Duration(seconds * float64(time.Second))
	}
	worker, err := pawlworker.New(options)
	if err != nil {
		log.Fatal(err)
	}
	worker.Handle("workshop.cut", cut)
	worker.Handle("workshop.*", other)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := worker.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
