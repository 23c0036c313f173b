// types.ts - what the server answers, as far as the pages read it.

export interface ErrorInfo {
    code: string; message: string; class?: string; retryable?: boolean; details?: unknown; source?: string | null; version?: number; step?: string;
    compensation?: { compensated: string[]; failed: string[] };
}

export interface FormField { name: string; type: string; label?: string; required?: boolean | string; requiredWhen?: string; description?: string; enum?: unknown[]; default?: unknown; sensitive?: boolean }

export interface WaitingFor {
    kind: string; step?: string; since?: string; until?: string; signalType?: string | string[]; title?: string; assignee?: string | string[]; visit?: number;
    form?: FormField[]; error?: ErrorInfo; attempt?: number; maxAttempts?: number; at?: string; by?: { id: string; name: string }; reason?: string;
    executionId?: string; code?: string; procedure?: string; method?: string; url?: string; queued?: boolean; leaseUntil?: string; correlation?: string; branches?: WaitingFor[]; branchCount?: number; asked?: number; parked?: boolean;
}

export interface Execution {
    id: string; kind: string; code: string; version: number; status: string; key: string | null; currentStep: string | null;
    waitingFor: WaitingFor | null; error: ErrorInfo | null; result: unknown; rowVersion: number; parentId: string | null;
    againOf: string | null; againAs?: string | null; user: { id: string; name: string } | null; actions: string[];
    createdAt: string; startedAt: string | null; completedAt: string | null; updatedAt: string; deadlineAt: string | null;
    input?: unknown; context?: unknown;
}

export interface Step {
    id: string; seq: number; step: string; kind: string; visit: number; attempt: number; status: string; input: unknown; output: unknown;
    error: ErrorInfo | null; idempotencyKey: string | null; startedAt: string; completedAt: string | null;
}

export interface Letter {
    id: string; kind: string; cause: ErrorInfo | null; attempts: number; payload: unknown; executionId: string | null; code: string | null; key: string | null;
    step: string | null; status: string; note: string | null; createdAt: string; resolvedAt: string | null; resolvedBy: { name?: string } | string | null; actions?: string[];
}

export interface Process { kind: string; code: string; name: string | null; published: { version: number; createdAt: string; retired?: boolean } | null; draft: { version: number } | null; retired?: boolean }

export interface Me { id: string; name: string; email: string | null; role: string; groups: string[]; org_id: string; skill_level: number | null; specializations: string[] }

/** A step of a definition, whatever is in it. */
export interface StepDef {
    code: string; name?: string; when?: string; procedure?: unknown; goto?: unknown; rollback?: unknown; onError?: string; reconcile?: unknown;
    branch?: { when?: string; name?: string; steps: StepDef[] }[];
    loop?: { for?: string; while?: string; as?: string; concurrency?: number; steps: StepDef[] };
    parallel?: { branches: StepDef[][]; join?: unknown };
}
export interface Definition { code: string; name?: string; description?: string; input?: FormField[]; triggers?: unknown[]; steps?: StepDef[] }
