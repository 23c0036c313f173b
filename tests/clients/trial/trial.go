// A worker with one handler for each thing that test_clients.mjs looks at.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pawl/pawlworker"
)

func seconds(text string) time.Duration {
	number, _ := strconv.ParseFloat(text, 64)
	return time.Duration(number * float64(time.Second))
}

func main() {
	worker, err := pawlworker.New(pawlworker.Options{Name: "trial-go", Concurrency: 4,
		Lease: seconds(os.Args[1]), Wait: time.Second, Grace: seconds(os.Args[2])})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	worker.Handle("trial.echo", func(_ context.Context, job *pawlworker.Job) (any, error) {
		return map[string]any{"input": job.Input, "key": job.IdempotencyKey, "attempt": job.Attempt,
			"progress": job.Progress, "step": job.Step, "execution": job.ExecutionID}, nil
	})
	worker.Handle("trial.fail", func(_ context.Context, job *pawlworker.Job) (any, error) {
		var failure pawlworker.JobError
		if err := job.Decode(&failure); err != nil {
			return nil, err
		}
		return nil, &failure
	})
	worker.Handle("trial.break", func(context.Context, *pawlworker.Job) (any, error) {
		return nil, errors.New("made up")
	})
	worker.Handle("trial.large", func(_ context.Context, job *pawlworker.Job) (any, error) {
		var input struct{ Bytes int }
		err := job.Decode(&input)
		return strings.Repeat("x", input.Bytes), err
	})
	worker.Handle("trial.slow", func(ctx context.Context, job *pawlworker.Job) (any, error) {
		var input struct{ Ms int }
		if err := job.Decode(&input); err != nil {
			return nil, err
		}
		job.Report(map[string]int{"page": 1})
		select {
		case <-ctx.Done():
			fmt.Printf("CANCELLED %s: %s\n", job.ID, job.CancelReason())
			return "cancelled", nil
		case <-time.After(time.Duration(input.Ms) * time.Millisecond):
			return "slept", nil
		}
	})
	worker.Handle("trial.deaf", func(_ context.Context, job *pawlworker.Job) (any, error) {
		var input struct{ Ms int }
		err := job.Decode(&input)
		time.Sleep(time.Duration(input.Ms) * time.Millisecond)
		return nil, err
	})
	worker.Handle("many.*", func(_ context.Context, job *pawlworker.Job) (any, error) { return job.Type, nil })
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := worker.Run(ctx); err != nil {
		fmt.Println("REFUSED", err)
		os.Exit(1)
	}
	fmt.Println("STOPPED")
}
