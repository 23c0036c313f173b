SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA main;
CREATE FUNCTION public.record_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$BEGIN INSERT INTO record_versions (org_id, object, id, version) VALUES (old.org_id, old.object, old.id, old.version + 1) ON CONFLICT (org_id, object, id) DO UPDATE SET version = excluded.version; RETURN NULL; END$$;
CREATE FUNCTION public.task_transitions_stay() RETURNS trigger
    LANGUAGE plpgsql
    AS $$BEGIN RAISE EXCEPTION 'task_transitions is append-only'; END$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.execution (
    "row" bigint NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    scenario_code text NOT NULL,
    scenario_version bigint NOT NULL,
    status text NOT NULL,
    row_version bigint NOT NULL,
    seq bigint NOT NULL,
    checkpoint_seq bigint NOT NULL,
    wake_at bigint,
    deadline_at bigint,
    created_at bigint NOT NULL,
    started_at bigint,
    completed_at bigint,
    updated_at bigint NOT NULL,
    stop_requested smallint NOT NULL,
    crash_count integer NOT NULL,
    format integer NOT NULL,
    org_id text,
    business_key text,
    live_key text,
    current_step text,
    owner_node text,
    debug json,
    parent_id uuid,
    trace_id text,
    created_by json,
    cursor json,
    waiting_for json,
    error json,
    result json,
    input json,
    context json,
    snapshot text,
    waiting_kind text,
    deleted_at bigint,
    again_of uuid,
    trace text,
    webhook text,
    record text,
    trigger_chain text,
    has_branches bigint
)
WITH (fillfactor='70');
CREATE TABLE public.history (
    key bigint NOT NULL,
    kind smallint NOT NULL,
    visit bigint NOT NULL,
    attempt bigint NOT NULL,
    started_at bigint NOT NULL,
    completed_at bigint NOT NULL,
    step_code text,
    status text NOT NULL,
    idempotency_key text,
    input json,
    output json,
    error json,
    delta json
);
CREATE VIEW public.execution_context AS
 SELECT e."row",
    e.id AS execution_id,
    jsonb_build_object('input', COALESCE(( SELECT ((h.delta)::jsonb -> 'input'::text)
           FROM public.history h
          WHERE (((h.key >= (e."row" << 24)) AND (h.key <= ((e."row" << 24) | (16777215)::bigint))) AND (json_typeof((h.delta -> 'input'::text)) = 'object'::text))
          ORDER BY h.key DESC
         LIMIT 1), (e.input)::jsonb, '{}'::jsonb), 'steps', COALESCE(( SELECT jsonb_object_agg(s.step_code, s.step) AS jsonb_object_agg
           FROM ( SELECT DISTINCT ON (h.step_code) h.step_code,
                    h.key AS last,
                        CASE
                            WHEN (h.status = 'skipped'::text) THEN NULL::jsonb
                            WHEN (h.status <> 'completed'::text) THEN jsonb_build_object('success', false, 'output', NULL::unknown, 'error', (h.error)::jsonb)
                            WHEN (json_typeof(h.output) = 'object'::text) THEN ((h.output)::jsonb || jsonb_build_object('success', true, 'error', NULL::unknown, 'output', (h.output)::jsonb))
                            ELSE jsonb_build_object('success', true, 'error', NULL::unknown, 'output', (h.output)::jsonb)
                        END AS step
                   FROM public.history h
                  WHERE (((h.key >= (e."row" << 24)) AND (h.key <= ((e."row" << 24) | (16777215)::bigint))) AND (h.kind = 0) AND (h.step_code IS NOT NULL) AND ((h.delta -> 'retry'::text) IS NULL))
                  ORDER BY h.step_code, h.key DESC) s
          WHERE (NOT (EXISTS ( SELECT 1
                   FROM (public.history d
                     CROSS JOIN LATERAL json_array_elements_text((d.delta -> 'dropped'::text)) x(value))
                  WHERE ((d.key > s.last) AND (d.key <= ((e."row" << 24) | (16777215)::bigint)) AND (x.value = s.step_code)))))), '{}'::jsonb), 'variables', COALESCE(( SELECT jsonb_object_agg(v.key, v.value) AS jsonb_object_agg
           FROM ( SELECT DISTINCT ON (x.key) x.key,
                    x.value
                   FROM (public.history h
                     CROSS JOIN LATERAL jsonb_each(((h.delta)::jsonb -> 'variables'::text)) x(key, value))
                  WHERE ((h.key >= (e."row" << 24)) AND (h.key <= ((e."row" << 24) | (16777215)::bigint)))
                  ORDER BY x.key, h.key DESC) v), '{}'::jsonb), 'signals', COALESCE(( SELECT jsonb_agg(l.signal ORDER BY l.key) AS jsonb_agg
           FROM ( SELECT h.key,
                    ((h.delta)::jsonb -> 'signal'::text) AS signal
                   FROM public.history h
                  WHERE (((h.key >= (e."row" << 24)) AND (h.key <= ((e."row" << 24) | (16777215)::bigint))) AND (json_typeof((h.delta -> 'signal'::text)) = 'object'::text))
                  ORDER BY h.key DESC
                 LIMIT 100) l), '[]'::jsonb)) AS context
   FROM public.execution e;
CREATE VIEW public.execution_state AS
 SELECT e.id AS execution_id,
    COALESCE(e.current_step, ( SELECT h.step_code
           FROM public.history h
          WHERE (((h.key >= (e."row" << 24)) AND (h.key <= ((e."row" << 24) | (16777215)::bigint))) AND (h.kind = 0) AND (h.step_code IS NOT NULL))
          ORDER BY h.key DESC
         LIMIT 1), 'start'::text) AS current_node_id,
    ( SELECT c.context
           FROM public.execution_context c
          WHERE (c."row" = e."row")) AS context,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((e.updated_at)::double precision * '00:00:00.000001'::interval)) AS updated_at
   FROM public.execution e;
CREATE VIEW main.execution_state AS
 SELECT execution_state.execution_id,
    execution_state.current_node_id,
    execution_state.context,
    execution_state.updated_at
   FROM public.execution_state;
CREATE TABLE public.definition (
    kind text NOT NULL,
    code text NOT NULL,
    version bigint NOT NULL,
    revision bigint NOT NULL,
    status text NOT NULL,
    name text,
    change_summary text,
    created_by text,
    created_at bigint NOT NULL,
    definition text NOT NULL,
    previous_version bigint,
    facts text
);
CREATE VIEW public.execution_steps AS
 SELECT h.key AS id,
    e.id AS execution_id,
    h.step_code AS node_id,
    COALESCE(( SELECT COALESCE((n.node ->> 'type'::text), ((n.node -> 'procedure'::text) ->> 'type'::text),
                CASE
                    WHEN ((n.node -> 'branch'::text) IS NOT NULL) THEN 'branch'::text
                    WHEN ((n.node -> 'loop'::text) IS NOT NULL) THEN 'loop'::text
                    WHEN ((n.node -> 'parallel'::text) IS NOT NULL) THEN 'parallel'::text
                    ELSE NULL::text
                END) AS "coalesce"
           FROM ( SELECT jsonb_path_query_first((d.definition)::jsonb, (
                        CASE e.kind
                            WHEN 'schema'::text THEN '$.nodes[*] ? (@.id == $code)'::text
                            ELSE '$.** ? (@.code == $code && (exists(@.procedure) || exists(@.branch) || exists(@.loop) || exists(@.parallel)))'::text
                        END)::jsonpath, jsonb_build_object('code', h.step_code)) AS node
                   FROM public.definition d
                  WHERE ((d.kind = e.kind) AND (d.code = e.scenario_code) AND (d.version = e.scenario_version))) n), 'procedure'::text) AS node_type,
    ( SELECT p.step_code
           FROM public.history p
          WHERE ((p.key >= (e."row" << 24)) AND (p.key < h.key) AND (p.kind < 4))
          ORDER BY p.key DESC
         LIMIT 1) AS prev_node_id,
    ( SELECT n.step_code
           FROM public.history n
          WHERE ((n.key > h.key) AND (n.key <= ((e."row" << 24) | (16777215)::bigint)) AND (n.kind < 4))
          ORDER BY n.key
         LIMIT 1) AS next_node_id,
    (h.input)::jsonb AS input,
    (h.output)::jsonb AS output,
    (
        CASE h.status
            WHEN 'failed'::text THEN 2
            WHEN 'skipped'::text THEN 3
            ELSE 1
        END)::smallint AS id_status,
    (h.error ->> 'message'::text) AS error,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((h.started_at)::double precision * '00:00:00.000001'::interval)) AS started_at,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((h.completed_at)::double precision * '00:00:00.000001'::interval)) AS finished_at
   FROM (public.execution e
     JOIN public.history h ON ((((h.key >= (e."row" << 24)) AND (h.key <= ((e."row" << 24) | (16777215)::bigint))) AND (h.kind < 4))));
CREATE VIEW main.execution_steps AS
 SELECT execution_steps.id,
    execution_steps.execution_id,
    execution_steps.node_id,
    execution_steps.node_type,
    execution_steps.prev_node_id,
    execution_steps.next_node_id,
    execution_steps.input,
    execution_steps.output,
    execution_steps.id_status,
    execution_steps.error,
    execution_steps.started_at,
    execution_steps.finished_at
   FROM public.execution_steps;
CREATE TABLE public.definition_counter (
    kind text NOT NULL,
    code text NOT NULL,
    last_version bigint NOT NULL,
    last_revision bigint NOT NULL,
    id bigint NOT NULL
);
CREATE VIEW public.executions AS
 SELECT e.id,
    c.id AS schema_id,
    (
        CASE e.status
            WHEN 'pending'::text THEN 1
            WHEN 'waiting'::text THEN 3
            WHEN 'waiting_debug'::text THEN 3
            WHEN 'completed'::text THEN 4
            WHEN 'failed'::text THEN 5
            WHEN 'cancelled'::text THEN 6
            ELSE 2
        END)::smallint AS id_status,
    e.current_step AS current_step_id,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((e.started_at)::double precision * '00:00:00.000001'::interval)) AS started_at,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((e.completed_at)::double precision * '00:00:00.000001'::interval)) AS finished_at,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((e.created_at)::double precision * '00:00:00.000001'::interval)) AS created_at,
    (e.created_by ->> 'id'::text) AS created_by,
    (e.error ->> 'message'::text) AS error
   FROM (public.execution e
     LEFT JOIN public.definition_counter c ON (((c.kind = e.kind) AND (c.code = e.scenario_code))));
CREATE VIEW main.executions AS
 SELECT executions.id,
    executions.schema_id,
    executions.id_status,
    executions.current_step_id,
    executions.started_at,
    executions.finished_at,
    executions.created_at,
    executions.created_by,
    executions.error
   FROM public.executions;
CREATE TABLE public.access_version (
    "row" bigint NOT NULL,
    n bigint NOT NULL
);
CREATE TABLE public.audit_log (
    "row" bigint NOT NULL,
    at bigint NOT NULL,
    user_id text,
    user_name text,
    org_id text,
    action text NOT NULL,
    target text,
    details text
);
ALTER TABLE public.audit_log ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_log_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW public.config AS
 SELECT definition.code AS name,
    definition.version,
    definition.definition AS value,
    definition.created_by,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((definition.created_at)::double precision * '00:00:00.000001'::interval)) AS created_at
   FROM public.definition
  WHERE ((definition.kind = 'config'::text) AND (definition.status = 'published'::text));
CREATE TABLE public.correlated_signals (
    "row" bigint NOT NULL,
    received_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    org_id text NOT NULL,
    signal_id text NOT NULL,
    digest text NOT NULL,
    execution_id uuid,
    correlation text,
    type text,
    payload text,
    sent_by text,
    sender text
);
ALTER TABLE public.correlated_signals ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.correlated_signals_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.counters (
    name text NOT NULL,
    slot bigint NOT NULL,
    n bigint NOT NULL
);
CREATE VIEW public.credentials AS
 SELECT definition.code,
    definition.version,
    definition.definition,
    definition.created_by,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((definition.created_at)::double precision * '00:00:00.000001'::interval)) AS created_at
   FROM public.definition
  WHERE ((definition.kind = 'credential'::text) AND (definition.status = 'published'::text));
CREATE TABLE public.dead_letters (
    "row" bigint NOT NULL,
    id uuid NOT NULL,
    execution bigint NOT NULL,
    attempts bigint NOT NULL,
    created_at bigint NOT NULL,
    resolved_at bigint,
    kind text NOT NULL,
    scenario_code text NOT NULL,
    org_id text,
    step_code text,
    status text NOT NULL,
    resolved_by text,
    note text,
    cause json,
    payload json
);
ALTER TABLE public.dead_letters ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.dead_letters_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.defects (
    "row" bigint NOT NULL,
    id text NOT NULL,
    org_id text NOT NULL,
    task_id text,
    deliverable_id text,
    inspection_id text,
    fix_task_id text,
    description text NOT NULL,
    what_to_fix text,
    how_fixed text,
    status text NOT NULL,
    reported_by text,
    created_at bigint NOT NULL,
    fixed_by text,
    fixed_at bigint,
    CONSTRAINT defects_status_check CHECK ((status = ANY (ARRAY['open'::text, 'fixed'::text])))
);
ALTER TABLE public.defects ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.defects_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE public.definition_counter ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.definition_counter_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.definition_stamp (
    slot bigint NOT NULL,
    n bigint NOT NULL
);
CREATE TABLE public.deliverables (
    "row" bigint NOT NULL,
    id text NOT NULL,
    org_id text NOT NULL,
    project_id text,
    title text NOT NULL,
    description text,
    created_by text,
    created_at bigint NOT NULL
);
ALTER TABLE public.deliverables ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.deliverables_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.execution_counts (
    slot integer NOT NULL,
    status text NOT NULL,
    n bigint NOT NULL
);
CREATE TABLE public.execution_events (
    n bigint NOT NULL,
    execution bigint NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    payload json
);
ALTER TABLE public.execution_events ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.execution_events_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE SEQUENCE public.execution_row
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE VIEW public.functions AS
 SELECT definition.code AS name,
    definition.version,
    definition.definition,
    definition.created_by,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((definition.created_at)::double precision * '00:00:00.000001'::interval)) AS created_at
   FROM public.definition
  WHERE ((definition.kind = 'function'::text) AND (definition.status = 'published'::text));
CREATE TABLE public.http_idempotency (
    "row" bigint NOT NULL,
    user_id text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    key text NOT NULL,
    body_hash text NOT NULL,
    status integer NOT NULL,
    created_at bigint NOT NULL,
    answer text,
    execution bigint
);
ALTER TABLE public.http_idempotency ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.http_idempotency_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.job_types (
    org_id text NOT NULL,
    type text NOT NULL,
    asked_at bigint NOT NULL,
    worker text
);
CREATE TABLE public.jobs (
    key bigint NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    org_id text NOT NULL,
    status text NOT NULL,
    created_at bigint NOT NULL,
    worker text,
    lease_token text,
    lease_us bigint,
    lease_until bigint,
    ended_at bigint,
    answer_hash text
);
CREATE TABLE public.nodes (
    node text NOT NULL,
    batch_no bigint NOT NULL,
    started_at bigint NOT NULL
);
CREATE TABLE public.orgs (
    id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);
CREATE TABLE public.outbox (
    "row" bigint NOT NULL,
    id uuid NOT NULL,
    execution bigint NOT NULL,
    attempts bigint NOT NULL,
    next_at bigint,
    created_at bigint NOT NULL,
    is_late bigint NOT NULL,
    org_id text,
    kind text NOT NULL,
    destination text NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    letter uuid,
    error json,
    body json NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='5000');
CREATE TABLE public.outbox_lanes (
    destination text NOT NULL,
    node text NOT NULL,
    until bigint NOT NULL
);
ALTER TABLE public.outbox ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.planner_policy (
    org_id text NOT NULL,
    min_skill_to_take bigint NOT NULL,
    self_check_min_skill bigint NOT NULL,
    min_skill_to_invite bigint NOT NULL,
    allow_trade_override bigint NOT NULL,
    updated_by text,
    updated_at bigint NOT NULL
);
CREATE VIEW public.procedure_versions AS
 SELECT definition.code AS procedure_code,
    definition.version,
    definition.revision,
    definition.status,
    definition.name,
    (definition.definition)::jsonb AS definition,
    definition.change_summary,
    definition.created_by,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((definition.created_at)::double precision * '00:00:00.000001'::interval)) AS created_at
   FROM public.definition
  WHERE (definition.kind = 'procedure'::text);
CREATE TABLE public.qc_inspections (
    "row" bigint NOT NULL,
    id text NOT NULL,
    org_id text NOT NULL,
    deliverable_id text NOT NULL,
    result text NOT NULL,
    measurements json,
    notes text,
    defect_id text,
    fix_task_id text,
    created_by text,
    created_at bigint NOT NULL,
    CONSTRAINT qc_inspections_result_check CHECK ((result = ANY (ARRAY['passed'::text, 'failed'::text, 'rework'::text])))
);
ALTER TABLE public.qc_inspections ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.qc_inspections_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.signals (
    execution bigint NOT NULL,
    signal_id text NOT NULL,
    type text NOT NULL,
    payload text,
    sent_by text,
    received_at bigint NOT NULL,
    seq bigint NOT NULL
);
CREATE VIEW public.received AS
 SELECT s.signal_id AS id,
    'signal'::text AS source,
    (x.id)::text AS execution_id,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((s.received_at)::double precision * '00:00:00.000001'::interval)) AS received_at
   FROM (public.signals s
     JOIN public.execution x ON ((x."row" = s.execution)))
UNION ALL
 SELECT correlated_signals.signal_id AS id,
    'correlated'::text AS source,
    (correlated_signals.execution_id)::text AS execution_id,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((correlated_signals.received_at)::double precision * '00:00:00.000001'::interval)) AS received_at
   FROM public.correlated_signals
UNION ALL
 SELECT h.key AS id,
    substr(h.path, 2) AS source,
    (x.id)::text AS execution_id,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((h.created_at)::double precision * '00:00:00.000001'::interval)) AS received_at
   FROM (public.http_idempotency h
     LEFT JOIN public.execution x ON ((x."row" = h.execution)))
  WHERE (h.path ~~ '/hooks/%'::text);
CREATE TABLE public.record_changes (
    org_id text NOT NULL,
    object text NOT NULL,
    id text NOT NULL,
    version bigint NOT NULL,
    key bigint NOT NULL,
    action text NOT NULL
);
CREATE TABLE public.record_versions (
    object text NOT NULL,
    id text NOT NULL,
    version bigint NOT NULL,
    org_id text DEFAULT '00000000-0000-7000-8000-000000000001'::text NOT NULL
);
CREATE TABLE public.records (
    "row" bigint NOT NULL,
    object text NOT NULL,
    id text NOT NULL,
    version bigint NOT NULL,
    data json NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    org_id text DEFAULT '00000000-0000-7000-8000-000000000001'::text NOT NULL
);
ALTER TABLE public.records ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.records_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW public.scenario_executions AS
 SELECT execution.id,
    execution.kind,
    execution.scenario_code,
    execution.scenario_version,
    execution.status,
    (execution.input)::jsonb AS input,
    ( SELECT c.context
           FROM public.execution_context c
          WHERE (c."row" = execution."row")) AS context,
    execution.current_step,
    (execution.error)::jsonb AS error,
    (execution.result)::jsonb AS result,
    (execution.waiting_for)::jsonb AS waiting_for,
    execution.waiting_kind,
    execution.business_key,
    execution.org_id,
    (execution.created_by)::jsonb AS created_by,
    execution.row_version,
    execution.seq,
    execution.checkpoint_seq,
    execution.cursor,
    execution.format,
    (execution.stop_requested <> 0) AS stop_requested,
    execution.crash_count,
    execution.owner_node,
    execution.debug,
    execution.parent_id,
    execution.trace_id,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((execution.wake_at)::double precision * '00:00:00.000001'::interval)) AS wake_at,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((execution.deadline_at)::double precision * '00:00:00.000001'::interval)) AS deadline_at,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((execution.started_at)::double precision * '00:00:00.000001'::interval)) AS started_at,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((execution.completed_at)::double precision * '00:00:00.000001'::interval)) AS completed_at,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((execution.created_at)::double precision * '00:00:00.000001'::interval)) AS created_at,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((execution.updated_at)::double precision * '00:00:00.000001'::interval)) AS updated_at
   FROM public.execution
  WHERE (execution.deleted_at IS NULL);
CREATE TABLE public.snapshot (
    hash text NOT NULL,
    pins json NOT NULL,
    kept_at bigint DEFAULT ((EXTRACT(epoch FROM now()) * (1000000)::numeric))::bigint NOT NULL
);
CREATE VIEW public.scenario_run_snapshots AS
 SELECT e.id AS execution_id,
    e.scenario_code,
    e.scenario_version,
    e.snapshot,
    'procedure'::text AS kind,
    pin.key AS code,
    (pin.value)::bigint AS version
   FROM ((public.execution e
     JOIN public.snapshot s ON ((s.hash = e.snapshot)))
     CROSS JOIN LATERAL json_each_text((s.pins -> 'procedures'::text)) pin(key, value))
UNION ALL
 SELECT e.id AS execution_id,
    e.scenario_code,
    e.scenario_version,
    e.snapshot,
    'function'::text AS kind,
    pin.key AS code,
    (pin.value)::bigint AS version
   FROM ((public.execution e
     JOIN public.snapshot s ON ((s.hash = e.snapshot)))
     CROSS JOIN LATERAL json_each_text((s.pins -> 'functions'::text)) pin(key, value));
CREATE VIEW public.scenario_step_history AS
 SELECT (((((lpad(to_hex((h.completed_at / 1000)), 12, '0'::text) || '7'::text) || lpad(to_hex((h.key & (4095)::bigint)), 3, '0'::text)) || substr((e.id)::text, 20, 4)) || substr((e.id)::text, 25)))::uuid AS id,
    e.id AS execution_id,
    h.step_code,
        CASE h.kind
            WHEN 0 THEN 'forward'::text
            WHEN 1 THEN 'rollback'::text
            WHEN 2 THEN 'reconcile'::text
            WHEN 3 THEN 'reminder'::text
            ELSE 'event'::text
        END AS kind,
    h.status,
    (h.input)::jsonb AS input,
    (h.output)::jsonb AS output,
    (h.error)::jsonb AS error,
    (h.delta)::jsonb AS delta,
    h.visit,
    h.attempt,
        CASE
            WHEN ((h.idempotency_key IS NOT NULL) OR (h.kind = 4)) THEN h.idempotency_key
            WHEN (h.visit > 1) THEN ((((e.id || '-'::text) || h.step_code) || '-'::text) || h.visit)
            ELSE ((e.id || '-'::text) || h.step_code)
        END AS idempotency_key,
    (h.key & (16777215)::bigint) AS seq,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((h.started_at)::double precision * '00:00:00.000001'::interval)) AS started_at,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((h.completed_at)::double precision * '00:00:00.000001'::interval)) AS completed_at,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((h.completed_at)::double precision * '00:00:00.000001'::interval)) AS created_at
   FROM (public.execution e
     JOIN public.history h ON (((h.key >= (e."row" << 24)) AND (h.key <= ((e."row" << 24) | (16777215)::bigint)))));
CREATE VIEW public.scenario_versions AS
 SELECT definition.code AS scenario_code,
    definition.version,
    definition.revision,
    definition.status,
    definition.name,
    (definition.definition)::jsonb AS definition,
    definition.change_summary,
    definition.created_by,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((definition.created_at)::double precision * '00:00:00.000001'::interval)) AS created_at
   FROM public.definition
  WHERE (definition.kind = 'scenario'::text);
CREATE TABLE public.schedules (
    id text NOT NULL,
    code text NOT NULL,
    kind text NOT NULL,
    version bigint NOT NULL,
    "position" bigint NOT NULL,
    cron text NOT NULL,
    timezone text NOT NULL,
    catch_up text NOT NULL,
    org_id text NOT NULL,
    is_retired bigint NOT NULL,
    next_at bigint,
    wake_at bigint,
    paused_at bigint,
    paused_by text,
    last_at bigint,
    last_execution text,
    last_error text,
    created_at bigint NOT NULL
);
CREATE TABLE public.schema_version (
    version bigint NOT NULL,
    applied_at bigint
);
CREATE TABLE public.sessions (
    hash text NOT NULL,
    user_id text NOT NULL,
    token_id text,
    token_hash text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint NOT NULL
);
CREATE TABLE public.shift_members (
    shift_id text NOT NULL,
    user_id text NOT NULL
);
CREATE TABLE public.shifts (
    "row" bigint NOT NULL,
    id text NOT NULL,
    org_id text NOT NULL,
    name text NOT NULL,
    starts_at bigint NOT NULL,
    ends_at bigint,
    ended_at bigint,
    ended_by text,
    created_by text,
    created_at bigint NOT NULL
);
ALTER TABLE public.shifts ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.shifts_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.stats (
    at bigint NOT NULL,
    org_id text,
    data text NOT NULL
);
CREATE TABLE public.task_comments (
    "row" bigint NOT NULL,
    id text NOT NULL,
    task_id text NOT NULL,
    body text NOT NULL,
    created_by text,
    created_at bigint NOT NULL
);
ALTER TABLE public.task_comments ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.task_comments_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.task_contributors (
    task_id text NOT NULL,
    user_id text NOT NULL,
    invited_by text,
    created_at bigint NOT NULL
);
CREATE TABLE public.task_dependencies (
    task_id text NOT NULL,
    depends_on text NOT NULL,
    created_by text,
    created_at bigint NOT NULL
);
CREATE TABLE public.task_escalations (
    "row" bigint NOT NULL,
    id text NOT NULL,
    task_id text NOT NULL,
    kind text NOT NULL,
    message text,
    created_by text,
    created_at bigint NOT NULL,
    acknowledged_by text,
    acknowledged_at bigint
);
ALTER TABLE public.task_escalations ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.task_escalations_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.task_events (
    task_id text NOT NULL,
    client_event_id text NOT NULL,
    actor_id text NOT NULL,
    action text NOT NULL,
    payload text NOT NULL,
    answer text NOT NULL
);
CREATE TABLE public.task_holds (
    "row" bigint NOT NULL,
    id text NOT NULL,
    task_id text NOT NULL,
    type text NOT NULL,
    reason text,
    until bigint,
    created_by text,
    created_at bigint NOT NULL,
    released_by text,
    released_at bigint
);
ALTER TABLE public.task_holds ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.task_holds_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.task_transitions (
    "row" bigint NOT NULL,
    id text NOT NULL,
    task_id text NOT NULL,
    org_id text NOT NULL,
    action text NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    actor_id text,
    actor_role text NOT NULL,
    payload json NOT NULL,
    client_event_id text,
    expected_row_version bigint NOT NULL,
    result_row_version bigint NOT NULL,
    created_at bigint NOT NULL
);
ALTER TABLE public.task_transitions ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.task_transitions_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.tasks (
    "row" bigint NOT NULL,
    id text NOT NULL,
    org_id text NOT NULL,
    project_id text,
    title text NOT NULL,
    description text,
    required_trade text,
    min_skill bigint NOT NULL,
    priority bigint NOT NULL,
    deliverable_id text,
    due_at bigint,
    overdue_at bigint,
    status text NOT NULL,
    row_version bigint NOT NULL,
    assigned_to text,
    assigned_by text,
    assigned_at bigint,
    started_at bigint,
    submitted_at bigint,
    reviewed_by text,
    reviewed_at bigint,
    reject_reason text,
    recall_reason text,
    cancel_reason text,
    handover_note text,
    self_checked bigint NOT NULL,
    had_owner bigint NOT NULL,
    needs_attention bigint NOT NULL,
    fix_of_task_id text,
    parent_task_id text,
    execution_id text,
    created_by text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    form text,
    result text,
    is_awaited bigint DEFAULT 0 NOT NULL,
    CONSTRAINT tasks_check CHECK (((status <> ALL (ARRAY['blocked'::text, 'available'::text, 'canceled'::text])) OR (assigned_to IS NULL))),
    CONSTRAINT tasks_check1 CHECK (((status <> ALL (ARRAY['assigned'::text, 'in_progress'::text, 'submitted'::text])) OR (assigned_to IS NOT NULL))),
    CONSTRAINT tasks_status_check CHECK ((status = ANY (ARRAY['blocked'::text, 'available'::text, 'assigned'::text, 'in_progress'::text, 'submitted'::text, 'done'::text, 'canceled'::text])))
);
ALTER TABLE public.tasks ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.tasks_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW public.templates AS
 SELECT definition.code,
    definition.version,
    definition.definition,
    definition.created_by,
    ('1970-01-01 00:00:00+00'::timestamp with time zone + ((definition.created_at)::double precision * '00:00:00.000001'::interval)) AS created_at
   FROM public.definition
  WHERE ((definition.kind = 'template'::text) AND (definition.status = 'published'::text));
CREATE TABLE public.tokens (
    id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    name text,
    hash text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    last_used_at bigint,
    expires_at bigint
);
CREATE TABLE public.triggers (
    code text NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    version bigint NOT NULL,
    type text NOT NULL,
    topic text NOT NULL,
    org_id text,
    is_retired bigint NOT NULL,
    spec text NOT NULL
);
CREATE TABLE public.users (
    id text NOT NULL COLLATE pg_catalog."C",
    org_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    email text,
    role text NOT NULL,
    groups json,
    skill_level bigint,
    specializations json,
    active smallint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE public.wait_assignees (
    org_id text NOT NULL,
    assignee text NOT NULL,
    wait bigint NOT NULL
);
CREATE TABLE public.waits (
    "row" bigint NOT NULL,
    execution bigint NOT NULL,
    visit bigint NOT NULL,
    opened_at bigint NOT NULL,
    org_id text NOT NULL,
    step_code text NOT NULL,
    correlation text,
    assignee text,
    types text NOT NULL,
    title text,
    form text,
    is_public bigint DEFAULT 0 NOT NULL,
    until_at bigint,
    link_scopes text,
    links_from bigint DEFAULT 0 NOT NULL
);
ALTER TABLE public.waits ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.waits_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.workers (
    namespace text NOT NULL,
    url text NOT NULL,
    credential text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
INSERT INTO public.access_version VALUES (1, 2);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (1, 1794854391121003, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.draft', 'order', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (2, 1794854391199435, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.publish', 'order', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (3, 1794854391219644, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.draft', 'nap', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (4, 1794854391248043, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.publish', 'nap', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (5, 1794854391253939, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.draft', 'work', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (6, 1794854391256907, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.publish', 'work', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (7, 1794854391260916, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.draft', 'both', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (8, 1794854391263459, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.publish', 'both', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (9, 1794854391267299, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.draft', 'paint', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (10, 1794854391269585, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.publish', 'paint', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (11, 1794854391272424, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.draft', 'held', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (12, 1794854391276111, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.publish', 'held', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (13, 1794854391279078, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'user.create', '01a1e5a8-8def-7e4d-8212-c5a337e95841', '{"name":"Ada","email":"ada@example.org","role":"supervisor","groups":["desk"]}');
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (14, 1794854391284242, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'record.put', 'orders/o-0', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (15, 1794854391304751, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'execution.signal', NULL, '{"type":"paid","correlation":"o-1"}');
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (16, 1794854391361022, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'execution.signal', NULL, '{"type":"paid","correlation":"o-3"}');
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (17, 1794854391488330, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'execution.cancel', '01a1e5a8-8ea4-7703-82ba-c625e6390c04', '{"reason":"not needed"}');
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (18, 1794854391499474, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.draft', 'order', NULL);
INSERT INTO public.audit_log OVERRIDING SYSTEM VALUE VALUES (19, 1794854391507696, '00000000-0000-7000-8000-000000000002', 'admin', '00000000-0000-7000-8000-000000000001', 'scenario.publish', 'order', NULL);
INSERT INTO public.correlated_signals OVERRIDING SYSTEM VALUE VALUES (1, 1794854391361026, 4102444800000000, '00000000-0000-7000-8000-000000000001', 's-3', 'b991a6ca71ab45204c5777b48de87bc25a4f14afa38b4b3f2ae73a0fc438440f', NULL, 'o-3', 'paid', '{}', '{"id":"00000000-0000-7000-8000-000000000002","name":"admin"}', '{"role":"admin","groups":[]}');
INSERT INTO public.counters VALUES ('kept_signals', 10, 1);
INSERT INTO public.counters VALUES ('dead_letters', 10, 1);
INSERT INTO public.dead_letters OVERRIDING SYSTEM VALUE VALUES (1, '01a1e5a8-8e93-7343-81f6-fcdf1c84ab84', 6, 1, 1794854391443407, NULL, 'incident', 'held', '00000000-0000-7000-8000-000000000001', 'fails', 'open', NULL, NULL, '{"code":"boom","message":"it broke","class":"business","retryable":false,"details":null,"source":"/steps/0/procedure"}', NULL);
INSERT INTO public.definition VALUES ('scenario', 'nap', 1, 0, 'published', NULL, NULL, '00000000-0000-7000-8000-000000000002', 1794854391248041, '{"code":"nap","steps":[{"code":"sleep","procedure":{"type":"wait.timer","duration":"3s"}}]}', 0, NULL);
INSERT INTO public.definition VALUES ('scenario', 'work', 1, 0, 'published', NULL, NULL, '00000000-0000-7000-8000-000000000002', 1794854391256907, '{"code":"work","steps":[{"code":"do","procedure":"shop.pack","input":{"n":1}}]}', 0, NULL);
INSERT INTO public.definition VALUES ('scenario', 'both', 1, 0, 'published', NULL, NULL, '00000000-0000-7000-8000-000000000002', 1794854391263458, '{"code":"both","steps":[{"code":"fork","parallel":{"branches":[[{"code":"left","procedure":{"type":"wait.signal","signalType":"go"}}],[{"code":"right","procedure":{"type":"wait.signal","signalType":"other"}}]]}}]}', 0, NULL);
INSERT INTO public.definition VALUES ('scenario', 'paint', 1, 0, 'published', 'paint', NULL, '00000000-0000-7000-8000-000000000002', 1794854391269584, '{"code":"paint","name":"paint","steps":[{"code":"brush","procedure":{"type":"task.create","title":"Paint the door","wait":true}}]}', 0, NULL);
INSERT INTO public.definition VALUES ('scenario', 'held', 1, 0, 'published', NULL, NULL, '00000000-0000-7000-8000-000000000002', 1794854391276111, '{"code":"held","onError":"hold","steps":[{"code":"fails","procedure":{"type":"compute.fail","code":"boom","message":"it broke","class":"business"}}]}', 0, NULL);
INSERT INTO public.definition VALUES ('scenario', 'order', 1, 0, 'superseded', 'An order', NULL, '00000000-0000-7000-8000-000000000002', 1794854391199432, '{"code":"order","name":"An order","steps":[{"code":"note","procedure":{"type":"compute.transform","data":{"total":"=$.input.n * 2"}}},{"code":"paid","procedure":{"type":"wait.signal","signalType":["paid","prepaid"],"correlation":"$.input.order","assignee":"group:desk","title":"Paid?"}},{"code":"keep","procedure":{"type":"record.create","object":"orders","data":{"n":"$.input.n"}}}],"input":[{"name":"n","type":"integer","default":1},{"name":"order","type":"string"}]}', 0, NULL);
INSERT INTO public.definition VALUES ('scenario', 'order', 2, 0, 'published', 'An order', NULL, '00000000-0000-7000-8000-000000000002', 1794854391507695, '{"code":"order","name":"An order","steps":[{"code":"only","procedure":{"type":"compute.transform","data":{}}}]}', 1, NULL);
INSERT INTO public.definition_counter OVERRIDING SYSTEM VALUE VALUES ('scenario', 'nap', 1, 1, 3);
INSERT INTO public.definition_counter OVERRIDING SYSTEM VALUE VALUES ('scenario', 'work', 1, 1, 5);
INSERT INTO public.definition_counter OVERRIDING SYSTEM VALUE VALUES ('scenario', 'both', 1, 1, 7);
INSERT INTO public.definition_counter OVERRIDING SYSTEM VALUE VALUES ('scenario', 'paint', 1, 1, 9);
INSERT INTO public.definition_counter OVERRIDING SYSTEM VALUE VALUES ('scenario', 'held', 1, 1, 11);
INSERT INTO public.definition_counter OVERRIDING SYSTEM VALUE VALUES ('scenario', 'order', 2, 2, 1);
INSERT INTO public.definition_stamp VALUES (1, 14);
INSERT INTO public.execution VALUES (1, '01a1e5a8-8dfa-7d5c-9600-c4266b7cb569', 'scenario', 'order', 1, 'completed', 2, 5, 5, NULL, 1797446391290078, 1794854391290078, 1794854391291230, 1794854391305685, 1794854391305685, 0, 0, 2, '00000000-0000-7000-8000-000000000001', 'k-1', NULL, NULL, NULL, NULL, NULL, NULL, '{"id":"00000000-0000-7000-8000-000000000002","name":"admin","email":"","role":"admin"}', NULL, NULL, NULL, '{"id":"01a1e5a8-8e09-7fc7-968a-7aa5d33d6acf","version":1,"n":2}', '{"n":2,"order":"o-1"}', '{"steps":{"note":{"visit":1,"output":{"total":4}},"paid":{"visit":1,"output":{"type":"paid","payload":{"by":"card"},"by":{"id":"00000000-0000-7000-8000-000000000002","name":"admin"},"receivedAt":"2026-11-16T18:39:51.305685Z","timedOut":false}},"keep":{"visit":1,"output":{"id":"01a1e5a8-8e09-7fc7-968a-7aa5d33d6acf","version":1,"n":2}}},"signals":[{"seq":3,"taken":true,"at":1794854391305685,"signal":{"id":"01a1e5a8-8e08-7244-b06f-b49e2ad2460b","type":"paid","payload":{"by":"card"},"by":{"id":"00000000-0000-7000-8000-000000000002","name":"admin"},"receivedAt":"2026-11-16T18:39:51.305685Z"}}],"last":"keep"}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.execution VALUES (2, '01a1e5a8-8e5a-7b8d-95c3-ea9203c8723e', 'scenario', 'order', 1, 'waiting', 1, 2, 2, 1797446391386091, 1797446391386091, 1794854391386091, 1794854391386097, NULL, 1794854391386097, 0, 0, 2, '00000000-0000-7000-8000-000000000001', 'k-2', 'k-2', 'paid', NULL, NULL, NULL, NULL, '{"id":"00000000-0000-7000-8000-000000000002","name":"admin","email":"","role":"admin"}', '{"step":"paid","phase":"wait","visit":1,"attempt":1,"startedAt":1794854391386097,"types":["paid","prepaid"],"correlation":"o-2","assignees":["group:desk"],"title":"Paid?"}', '{"kind":"signal","step":"paid","signalType":["paid","prepaid"],"title":"Paid?","assignee":"group:desk","correlation":"o-2","since":"2026-11-16T18:39:51.386097Z"}', NULL, NULL, '{"n":3,"order":"o-2"}', '{"steps":{"note":{"visit":1,"output":{"total":6}}},"last":"note"}', NULL, 'signal', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.execution VALUES (3, '01a1e5a8-8e63-78ca-ac0f-02c016313160', 'scenario', 'work', 1, 'waiting', 1, 1, 1, 1797446391395756, 1797446391395756, 1794854391395756, 1794854391395766, NULL, 1794854391395766, 0, 0, 2, '00000000-0000-7000-8000-000000000001', NULL, NULL, 'do', NULL, NULL, NULL, NULL, '{"id":"00000000-0000-7000-8000-000000000002","name":"admin","email":"","role":"admin"}', '{"step":"do","phase":"job","visit":1,"attempt":1,"startedAt":1794854391395766,"input":{"n":1},"frozen":{"asks":"1","results":{}},"awaited":"01a1e5a8-8e63-78ca-ac0f-02c016313160-do","ask":"job","callSeq":1}', '{"kind":"job","step":"do","procedure":"shop.pack","reason":"none has asked for it","since":"2026-11-16T18:39:51.395766Z"}', NULL, NULL, '{}', '{"steps":{}}', NULL, 'job', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.execution VALUES (4, '01a1e5a8-8e6e-785c-a481-eda0cf1cdd1e', 'scenario', 'both', 1, 'waiting', 1, 3, 3, 1797446391406217, 1797446391406217, 1794854391406217, 1794854391406226, NULL, 1794854391406226, 0, 0, 2, '00000000-0000-7000-8000-000000000001', NULL, NULL, 'left', NULL, NULL, NULL, NULL, '{"id":"00000000-0000-7000-8000-000000000002","name":"admin","email":"","role":"admin"}', '{"step":"left","phase":"wait","visit":1,"attempt":1,"startedAt":1794854391406226,"types":"go","seq":2,"in":[{"step":"fork","block":0,"visit":1,"startedAt":1794854391406226}],"why":{"kind":"signal","step":"left","signalType":"go","since":"2026-11-16T18:39:51.406226Z"},"beside":[{"step":"right","phase":"wait","visit":1,"attempt":1,"startedAt":1794854391406226,"types":"other","seq":3,"why":{"kind":"signal","step":"right","signalType":"other","since":"2026-11-16T18:39:51.406226Z"},"in":[{"step":"fork","block":1,"visit":1,"startedAt":1794854391406226}]}]}', '{"kind":"signal","step":"left","signalType":"go","since":"2026-11-16T18:39:51.406226Z","branches":[{"kind":"signal","step":"left","signalType":"go","since":"2026-11-16T18:39:51.406226Z"},{"kind":"signal","step":"right","signalType":"other","since":"2026-11-16T18:39:51.406226Z"}]}', NULL, NULL, '{}', '{"steps":{}}', NULL, 'signal', NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO public.execution VALUES (5, '01a1e5a8-8e87-75fe-bdd0-18553baa094a', 'scenario', 'paint', 1, 'waiting', 1, 1, 1, 1797446391431239, 1797446391431239, 1794854391431239, 1794854391431248, NULL, 1794854391431248, 0, 0, 2, '00000000-0000-7000-8000-000000000001', NULL, NULL, 'brush', NULL, NULL, NULL, NULL, '{"id":"00000000-0000-7000-8000-000000000002","name":"admin","email":"","role":"admin"}', '{"step":"brush","phase":"wait","visit":1,"attempt":1,"startedAt":1794854391431248,"task":"01a1e5a8-8e87-79cd-9e32-fade94eee738"}', '{"kind":"task","step":"brush","taskId":"01a1e5a8-8e87-79cd-9e32-fade94eee738","title":"Paint the door","since":"2026-11-16T18:39:51.431248Z"}', NULL, NULL, '{}', '{"steps":{}}', NULL, 'task', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.execution VALUES (6, '01a1e5a8-8e93-7646-ac97-0f85ca762158', 'scenario', 'held', 1, 'waiting', 1, 1, 1, NULL, 1797446391443399, 1794854391443399, 1794854391443407, NULL, 1794854391443407, 0, 0, 2, '00000000-0000-7000-8000-000000000001', NULL, NULL, 'fails', NULL, NULL, NULL, NULL, '{"id":"00000000-0000-7000-8000-000000000002","name":"admin","email":"","role":"admin"}', '{"step":"fails","phase":"held","visit":1,"attempt":1,"startedAt":1794854391443407,"tries":1}', '{"kind":"incident","step":"fails","error":{"code":"boom","message":"it broke","class":"business","retryable":false,"details":null,"source":"/steps/0/procedure"},"since":"2026-11-16T18:39:51.443407Z"}', NULL, NULL, '{}', '{"steps":{"fails":{"visit":1,"error":{"code":"boom","message":"it broke","class":"business","retryable":false,"details":null,"source":"/steps/0/procedure"}}}}', NULL, 'incident', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.execution VALUES (7, '01a1e5a8-8ea4-7703-82ba-c625e6390c04', 'scenario', 'both', 1, 'cancelled', 2, 4, 4, NULL, 1797446391460470, 1794854391460470, 1794854391460491, 1794854391488350, 1794854391488350, 0, 0, 2, '00000000-0000-7000-8000-000000000001', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"id":"00000000-0000-7000-8000-000000000002","name":"admin","email":"","role":"admin"}', NULL, NULL, NULL, NULL, '{}', '{"steps":{}}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.execution VALUES (8, '01a1e5a8-8ee3-7054-9170-7ee3ef204e87', 'scenario', 'nap', 1, 'waiting', 1, 1, 1, 1794854394524610, 1797446391523403, 1794854391523403, 1794854391524610, NULL, 1794854391524610, 0, 0, 2, '00000000-0000-7000-8000-000000000001', NULL, NULL, 'sleep', NULL, NULL, NULL, NULL, '{"id":"00000000-0000-7000-8000-000000000002","name":"admin","email":"","role":"admin"}', '{"step":"sleep","phase":"wait","visit":1,"attempt":1,"startedAt":1794854391524610,"wakeAt":1794854394524610,"timeoutAt":1794854394524610}', '{"kind":"timer","step":"sleep","since":"2026-11-16T18:39:51.524610Z","until":"2026-11-16T18:39:54.524610Z"}', NULL, NULL, '{}', '{"steps":{}}', NULL, 'timer', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.execution_counts VALUES (10, 'completed', 1);
INSERT INTO public.execution_counts VALUES (10, 'cancelled', 1);
INSERT INTO public.execution_counts VALUES (10, 'waiting', 6);
INSERT INTO public.history VALUES (16777217, 0, 1, 1, 1794854391291230, 1794854391291230, 'note', 'completed', NULL, NULL, '{"total":4}', NULL, NULL);
INSERT INTO public.history VALUES (16777218, 4, 1, 1, 1794854391291230, 1794854391291230, 'paid', 'waiting', NULL, NULL, NULL, NULL, '{"wait":{"kind":"signal","step":"paid","signalType":["paid","prepaid"],"title":"Paid?","assignee":"group:desk","correlation":"o-1","since":"2026-11-16T18:39:51.291230Z"}}');
INSERT INTO public.history VALUES (16777219, 4, 0, 0, 1794854391305685, 1794854391305685, NULL, 'signal', NULL, NULL, NULL, NULL, '{"signal":{"id":"01a1e5a8-8e08-7244-b06f-b49e2ad2460b","type":"paid","payload":{"by":"card"},"by":{"id":"00000000-0000-7000-8000-000000000002","name":"admin"},"receivedAt":"2026-11-16T18:39:51.305685Z"}}');
INSERT INTO public.history VALUES (16777220, 0, 1, 1, 1794854391291230, 1794854391305685, 'paid', 'completed', NULL, NULL, '{"type":"paid","payload":{"by":"card"},"by":{"id":"00000000-0000-7000-8000-000000000002","name":"admin"},"receivedAt":"2026-11-16T18:39:51.305685Z","timedOut":false}', NULL, '{"took":3}');
INSERT INTO public.history VALUES (16777221, 0, 1, 1, 1794854391305685, 1794854391305685, 'keep', 'completed', NULL, NULL, '{"id":"01a1e5a8-8e09-7fc7-968a-7aa5d33d6acf","version":1,"n":2}', NULL, '{"end":"completed"}');
INSERT INTO public.history VALUES (33554433, 0, 1, 1, 1794854391386097, 1794854391386097, 'note', 'completed', NULL, NULL, '{"total":6}', NULL, NULL);
INSERT INTO public.history VALUES (33554434, 4, 1, 1, 1794854391386097, 1794854391386097, 'paid', 'waiting', NULL, NULL, NULL, NULL, '{"wait":{"kind":"signal","step":"paid","signalType":["paid","prepaid"],"title":"Paid?","assignee":"group:desk","correlation":"o-2","since":"2026-11-16T18:39:51.386097Z"}}');
INSERT INTO public.history VALUES (50331649, 4, 1, 1, 1794854391395766, 1794854391395766, 'do', 'job', '01a1e5a8-8e63-78ca-ac0f-02c016313160-do', '{"n":1}', NULL, NULL, '{"wait":{"kind":"job","step":"do","procedure":"shop.pack","reason":"none has asked for it","since":"2026-11-16T18:39:51.395766Z"}}');
INSERT INTO public.history VALUES (67108865, 4, 1, 1, 1794854391406226, 1794854391406226, 'fork', 'parallel', NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.history VALUES (67108866, 4, 1, 1, 1794854391406226, 1794854391406226, 'left', 'waiting', NULL, NULL, NULL, NULL, '{"wait":{"kind":"signal","step":"left","signalType":"go","since":"2026-11-16T18:39:51.406226Z"}}');
INSERT INTO public.history VALUES (67108867, 4, 1, 1, 1794854391406226, 1794854391406226, 'right', 'waiting', NULL, NULL, NULL, NULL, '{"wait":{"kind":"signal","step":"right","signalType":"other","since":"2026-11-16T18:39:51.406226Z"}}');
INSERT INTO public.history VALUES (83886081, 4, 1, 1, 1794854391431248, 1794854391431248, 'brush', 'waiting', '01a1e5a8-8e87-75fe-bdd0-18553baa094a-brush', NULL, NULL, NULL, '{"wait":{"kind":"task","step":"brush","taskId":"01a1e5a8-8e87-79cd-9e32-fade94eee738","title":"Paint the door","since":"2026-11-16T18:39:51.431248Z"}}');
INSERT INTO public.history VALUES (100663297, 0, 1, 1, 1794854391443407, 1794854391443407, 'fails', 'failed', NULL, NULL, NULL, '{"code":"boom","message":"it broke","class":"business","retryable":false,"details":null,"source":"/steps/0/procedure"}', '{"wait":{"kind":"incident","step":"fails","error":{"code":"boom","message":"it broke","class":"business","retryable":false,"details":null,"source":"/steps/0/procedure"},"since":"2026-11-16T18:39:51.443407Z"}}');
INSERT INTO public.history VALUES (117440513, 4, 1, 1, 1794854391460491, 1794854391460491, 'fork', 'parallel', NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.history VALUES (117440514, 4, 1, 1, 1794854391460491, 1794854391460491, 'left', 'waiting', NULL, NULL, NULL, NULL, '{"wait":{"kind":"signal","step":"left","signalType":"go","since":"2026-11-16T18:39:51.460491Z"}}');
INSERT INTO public.history VALUES (117440515, 4, 1, 1, 1794854391460491, 1794854391460491, 'right', 'waiting', NULL, NULL, NULL, NULL, '{"wait":{"kind":"signal","step":"right","signalType":"other","since":"2026-11-16T18:39:51.460491Z"}}');
INSERT INTO public.history VALUES (117440516, 4, 0, 0, 1794854391488350, 1794854391488350, NULL, 'cancelled', NULL, NULL, NULL, NULL, '{"cancel":{"reason":"not needed"},"end":"cancelled"}');
INSERT INTO public.history VALUES (134217729, 4, 1, 1, 1794854391524610, 1794854391524610, 'sleep', 'waiting', NULL, NULL, NULL, NULL, '{"wait":{"kind":"timer","step":"sleep","since":"2026-11-16T18:39:51.524610Z","until":"2026-11-16T18:39:54.524610Z"}}');
INSERT INTO public.jobs VALUES (50331649, '01a1e5a8-8e63-7f68-9119-37fcfaea8201', 'shop.pack', '00000000-0000-7000-8000-000000000001', 'ready', 1794854391395766, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.orgs VALUES ('00000000-0000-7000-8000-000000000001', 1794854388887248);
INSERT INTO public.record_changes VALUES ('00000000-0000-7000-8000-000000000001', 'orders', '01a1e5a8-8e09-7fc7-968a-7aa5d33d6acf', 1, 16777221, 'created');
INSERT INTO public.records OVERRIDING SYSTEM VALUE VALUES (1, 'orders', 'o-0', 1, '{"n":0}', 1794854391284240, 1794854391284240, '00000000-0000-7000-8000-000000000001');
INSERT INTO public.records OVERRIDING SYSTEM VALUE VALUES (2, 'orders', '01a1e5a8-8e09-7fc7-968a-7aa5d33d6acf', 1, '{"n":2}', 1794854391305685, 1794854391305685, '00000000-0000-7000-8000-000000000001');
INSERT INTO public.schema_version VALUES (1, 1794854388626275);
INSERT INTO public.schema_version VALUES (2, 1794854388626275);
INSERT INTO public.schema_version VALUES (3, 1794854388626275);
INSERT INTO public.schema_version VALUES (4, 1794854388626275);
INSERT INTO public.schema_version VALUES (5, 1794854388626275);
INSERT INTO public.schema_version VALUES (6, 1794854388626275);
INSERT INTO public.schema_version VALUES (7, 1794854388626275);
INSERT INTO public.schema_version VALUES (8, 1794854388626275);
INSERT INTO public.schema_version VALUES (9, 1794854388626275);
INSERT INTO public.schema_version VALUES (10, 1794854388626275);
INSERT INTO public.schema_version VALUES (11, 1794854388626275);
INSERT INTO public.schema_version VALUES (12, 1794854388626275);
INSERT INTO public.schema_version VALUES (13, 1794854388626275);
INSERT INTO public.schema_version VALUES (14, 1794854388626275);
INSERT INTO public.schema_version VALUES (15, 1794854388626275);
INSERT INTO public.schema_version VALUES (16, 1794854388626275);
INSERT INTO public.schema_version VALUES (17, 1794854388626275);
INSERT INTO public.schema_version VALUES (18, 1794854388626275);
INSERT INTO public.schema_version VALUES (19, 1794854388626275);
INSERT INTO public.schema_version VALUES (20, 1794854388626275);
INSERT INTO public.schema_version VALUES (21, 1794854388626275);
INSERT INTO public.schema_version VALUES (22, 1794854388626275);
INSERT INTO public.schema_version VALUES (23, 1794854388626275);
INSERT INTO public.schema_version VALUES (24, 1794854388626275);
INSERT INTO public.schema_version VALUES (25, 1794854388626275);
INSERT INTO public.schema_version VALUES (26, 1794854388626275);
INSERT INTO public.schema_version VALUES (27, 1794854388626275);
INSERT INTO public.schema_version VALUES (28, 1794854388626275);
INSERT INTO public.schema_version VALUES (29, 1794854388626275);
INSERT INTO public.schema_version VALUES (30, 1794854388626275);
INSERT INTO public.schema_version VALUES (31, 1794854388626275);
INSERT INTO public.schema_version VALUES (32, 1794854388626275);
INSERT INTO public.schema_version VALUES (33, 1794854388626275);
INSERT INTO public.schema_version VALUES (34, 1794854388626275);
INSERT INTO public.schema_version VALUES (35, 1794854388626275);
INSERT INTO public.schema_version VALUES (36, 1794854388626275);
INSERT INTO public.schema_version VALUES (37, 1794854388626275);
INSERT INTO public.signals VALUES (1, '01a1e5a8-8e08-7244-b06f-b49e2ad2460b', 'paid', '{"by":"card"}', '{"id":"00000000-0000-7000-8000-000000000002","name":"admin"}', 1794854391305685, 3);
INSERT INTO public.tasks OVERRIDING SYSTEM VALUE VALUES (1, '01a1e5a8-8e87-79cd-9e32-fade94eee738', '00000000-0000-7000-8000-000000000001', NULL, 'Paint the door', NULL, NULL, 0, 0, NULL, NULL, NULL, 'available', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, '01a1e5a8-8e87-75fe-bdd0-18553baa094a', NULL, 1794854391431248, 1794854391431248, NULL, NULL, 1);
INSERT INTO public.tokens VALUES ('01a1e5a8-8def-7e4d-8212-c5a3a4431df4', '01a1e5a8-8def-7e4d-8212-c5a337e95841', NULL, '55e570e91bb627c2225e687428b8ed62829e097910456e9f1a5383b0b1f70c5c', 1794854391279076, NULL, NULL);
INSERT INTO public.users VALUES ('00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000001', 'admin', NULL, 'admin', NULL, NULL, NULL, 1, 1794854388887248, 1794854388887248);
INSERT INTO public.users VALUES ('01a1e5a8-8def-7e4d-8212-c5a337e95841', '00000000-0000-7000-8000-000000000001', 'Ada', 'ada@example.org', 'supervisor', '["desk"]', NULL, NULL, 1, 1794854391279011, 1794854391279011);
INSERT INTO public.wait_assignees VALUES ('00000000-0000-7000-8000-000000000001', 'group:desk', 2);
INSERT INTO public.waits OVERRIDING SYSTEM VALUE VALUES (2, 2, 1, 1794854391386097, '00000000-0000-7000-8000-000000000001', 'paid', 'o-2', '["group:desk"]', '["paid","prepaid"]', 'Paid?', NULL, 0, NULL, NULL, 0);
SELECT pg_catalog.setval('public.audit_log_row_seq', 19, true);
SELECT pg_catalog.setval('public.correlated_signals_row_seq', 1, true);
SELECT pg_catalog.setval('public.dead_letters_row_seq', 1, true);
SELECT pg_catalog.setval('public.defects_row_seq', 1, false);
SELECT pg_catalog.setval('public.definition_counter_id_seq', 14, true);
SELECT pg_catalog.setval('public.deliverables_row_seq', 1, false);
SELECT pg_catalog.setval('public.execution_events_n_seq', 1, false);
SELECT pg_catalog.setval('public.execution_row', 10, true);
SELECT pg_catalog.setval('public.http_idempotency_row_seq', 1, false);
SELECT pg_catalog.setval('public.outbox_row_seq', 1, false);
SELECT pg_catalog.setval('public.qc_inspections_row_seq', 1, false);
SELECT pg_catalog.setval('public.records_row_seq', 2, true);
SELECT pg_catalog.setval('public.shifts_row_seq', 1, false);
SELECT pg_catalog.setval('public.task_comments_row_seq', 1, false);
SELECT pg_catalog.setval('public.task_escalations_row_seq', 1, false);
SELECT pg_catalog.setval('public.task_holds_row_seq', 1, false);
SELECT pg_catalog.setval('public.task_transitions_row_seq', 1, false);
SELECT pg_catalog.setval('public.tasks_row_seq', 1, true);
SELECT pg_catalog.setval('public.waits_row_seq', 2, true);
ALTER TABLE ONLY public.access_version
    ADD CONSTRAINT access_version_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.correlated_signals
    ADD CONSTRAINT correlated_signals_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.counters
    ADD CONSTRAINT counters_pkey PRIMARY KEY (name, slot);
ALTER TABLE ONLY public.dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.defects
    ADD CONSTRAINT defects_id_key UNIQUE (id);
ALTER TABLE ONLY public.defects
    ADD CONSTRAINT defects_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.definition_counter
    ADD CONSTRAINT definition_counter_pkey PRIMARY KEY (kind, code);
ALTER TABLE ONLY public.definition
    ADD CONSTRAINT definition_pkey PRIMARY KEY (kind, code, version);
ALTER TABLE ONLY public.definition_stamp
    ADD CONSTRAINT definition_stamp_pkey PRIMARY KEY (slot);
ALTER TABLE ONLY public.deliverables
    ADD CONSTRAINT deliverables_id_key UNIQUE (id);
ALTER TABLE ONLY public.deliverables
    ADD CONSTRAINT deliverables_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.execution_counts
    ADD CONSTRAINT execution_counts_pkey PRIMARY KEY (slot, status);
ALTER TABLE ONLY public.execution_events
    ADD CONSTRAINT execution_events_pkey PRIMARY KEY (n);
ALTER TABLE ONLY public.execution
    ADD CONSTRAINT execution_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.http_idempotency
    ADD CONSTRAINT http_idempotency_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.job_types
    ADD CONSTRAINT job_types_pkey PRIMARY KEY (org_id, type);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (node);
ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.outbox_lanes
    ADD CONSTRAINT outbox_lanes_pkey PRIMARY KEY (destination);
ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.planner_policy
    ADD CONSTRAINT planner_policy_pkey PRIMARY KEY (org_id);
ALTER TABLE ONLY public.qc_inspections
    ADD CONSTRAINT qc_inspections_id_key UNIQUE (id);
ALTER TABLE ONLY public.qc_inspections
    ADD CONSTRAINT qc_inspections_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.record_changes
    ADD CONSTRAINT record_changes_pkey PRIMARY KEY (org_id, object, id, version);
ALTER TABLE ONLY public.record_versions
    ADD CONSTRAINT record_versions_pkey PRIMARY KEY (org_id, object, id);
ALTER TABLE ONLY public.records
    ADD CONSTRAINT records_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.shift_members
    ADD CONSTRAINT shift_members_pkey PRIMARY KEY (shift_id, user_id);
ALTER TABLE ONLY public.shifts
    ADD CONSTRAINT shifts_id_key UNIQUE (id);
ALTER TABLE ONLY public.shifts
    ADD CONSTRAINT shifts_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.signals
    ADD CONSTRAINT signals_pkey PRIMARY KEY (execution, signal_id);
ALTER TABLE ONLY public.snapshot
    ADD CONSTRAINT snapshot_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.task_comments
    ADD CONSTRAINT task_comments_id_key UNIQUE (id);
ALTER TABLE ONLY public.task_comments
    ADD CONSTRAINT task_comments_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.task_contributors
    ADD CONSTRAINT task_contributors_pkey PRIMARY KEY (task_id, user_id);
ALTER TABLE ONLY public.task_dependencies
    ADD CONSTRAINT task_dependencies_pkey PRIMARY KEY (task_id, depends_on);
ALTER TABLE ONLY public.task_escalations
    ADD CONSTRAINT task_escalations_id_key UNIQUE (id);
ALTER TABLE ONLY public.task_escalations
    ADD CONSTRAINT task_escalations_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.task_events
    ADD CONSTRAINT task_events_pkey PRIMARY KEY (task_id, client_event_id);
ALTER TABLE ONLY public.task_holds
    ADD CONSTRAINT task_holds_id_key UNIQUE (id);
ALTER TABLE ONLY public.task_holds
    ADD CONSTRAINT task_holds_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.task_transitions
    ADD CONSTRAINT task_transitions_id_key UNIQUE (id);
ALTER TABLE ONLY public.task_transitions
    ADD CONSTRAINT task_transitions_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.task_transitions
    ADD CONSTRAINT task_transitions_task_id_result_row_version_key UNIQUE (task_id, result_row_version);
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_id_key UNIQUE (id);
ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.triggers
    ADD CONSTRAINT triggers_pkey PRIMARY KEY (code, "position");
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.wait_assignees
    ADD CONSTRAINT wait_assignees_pkey PRIMARY KEY (org_id, assignee, wait);
ALTER TABLE ONLY public.waits
    ADD CONSTRAINT waits_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (namespace);
CREATE INDEX audit_log_by_action ON public.audit_log USING btree (action, at, "row");
CREATE INDEX audit_log_by_at ON public.audit_log USING btree (at, "row");
CREATE INDEX audit_log_by_org ON public.audit_log USING btree (org_id, at, "row") WHERE (org_id <> '00000000-0000-7000-8000-000000000001'::text);
CREATE INDEX audit_log_by_target ON public.audit_log USING btree (target, at, "row");
CREATE INDEX audit_log_by_user ON public.audit_log USING btree (user_id, at, "row");
CREATE INDEX correlated_signals_by_expiry ON public.correlated_signals USING btree (expires_at);
CREATE UNIQUE INDEX correlated_signals_by_id ON public.correlated_signals USING btree (org_id, signal_id);
CREATE INDEX correlated_signals_kept ON public.correlated_signals USING btree (org_id, correlation, "row") WHERE (correlation IS NOT NULL);
CREATE INDEX dead_letters_by_code ON public.dead_letters USING btree (scenario_code, "row");
CREATE INDEX dead_letters_by_execution ON public.dead_letters USING btree (execution, "row");
CREATE UNIQUE INDEX dead_letters_by_id ON public.dead_letters USING btree (id);
CREATE INDEX dead_letters_open ON public.dead_letters USING btree (status, "row") WHERE (status = 'open'::text);
CREATE INDEX defects_by_fix ON public.defects USING btree (fix_task_id) WHERE (fix_task_id IS NOT NULL);
CREATE INDEX defects_by_org ON public.defects USING btree (org_id, "row");
CREATE INDEX defects_by_task ON public.defects USING btree (task_id, "row");
CREATE UNIQUE INDEX definition_published ON public.definition USING btree (kind, code) WHERE (status = ANY (ARRAY['published'::text, 'retired'::text]));
CREATE INDEX deliverables_by_org ON public.deliverables USING btree (org_id, "row");
CREATE INDEX execution_by_again_of ON public.execution USING btree (again_of, "row") WHERE (again_of IS NOT NULL);
CREATE INDEX execution_by_code ON public.execution USING btree (scenario_code, "row");
CREATE INDEX execution_by_error ON public.execution USING btree (((error ->> 'code'::text)), "row") WHERE (error IS NOT NULL);
CREATE UNIQUE INDEX execution_by_id ON public.execution USING btree (id);
CREATE INDEX execution_by_key ON public.execution USING btree (business_key, "row") WHERE (business_key IS NOT NULL);
CREATE UNIQUE INDEX execution_by_live_key ON public.execution USING btree (live_key, scenario_code, COALESCE(org_id, '-'::text)) WHERE (live_key IS NOT NULL);
CREATE INDEX execution_by_org ON public.execution USING btree (org_id, "row") WHERE (org_id <> '00000000-0000-7000-8000-000000000001'::text);
CREATE INDEX execution_by_parent ON public.execution USING btree (parent_id, "row") WHERE (parent_id IS NOT NULL);
CREATE INDEX execution_by_record ON public.execution USING btree (record, "row") WHERE (record IS NOT NULL);
CREATE INDEX execution_by_status ON public.execution USING btree (status, "row") WHERE (status <> 'completed'::text);
CREATE INDEX execution_by_step ON public.execution USING btree (current_step, "row") WHERE (current_step IS NOT NULL);
CREATE INDEX execution_by_waiting_kind ON public.execution USING btree (waiting_kind, "row") WHERE (waiting_kind IS NOT NULL);
CREATE INDEX execution_by_wake_at ON public.execution USING btree (wake_at, "row") WHERE (wake_at IS NOT NULL);
CREATE INDEX execution_deleted ON public.execution USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX execution_events_by_execution ON public.execution_events USING btree (execution);
CREATE INDEX execution_events_by_key ON public.execution_events USING btree (key);
CREATE INDEX execution_live ON public.execution USING btree (scenario_code, scenario_version, org_id, status, current_step) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text, 'waiting'::text, 'compensating'::text]));
CREATE INDEX execution_with_branches ON public.execution USING btree (status, "row") WHERE ((cursor -> 'beside'::text) IS NOT NULL);
CREATE INDEX http_idempotency_by_execution ON public.http_idempotency USING btree (execution) WHERE (execution IS NOT NULL);
CREATE UNIQUE INDEX http_idempotency_by_key ON public.http_idempotency USING btree (key, user_id, path, method);
CREATE UNIQUE INDEX jobs_by_id ON public.jobs USING btree (id);
CREATE INDEX jobs_ended ON public.jobs USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX jobs_leased ON public.jobs USING btree (lease_until) WHERE (status = 'leased'::text);
CREATE INDEX jobs_open ON public.jobs USING btree (key) WHERE (ended_at IS NULL);
CREATE INDEX jobs_ready ON public.jobs USING btree (org_id, type, created_at, key) WHERE (status = 'ready'::text);
CREATE INDEX outbox_by_execution ON public.outbox USING btree (execution, destination, "row");
CREATE UNIQUE INDEX outbox_by_id ON public.outbox USING btree (id);
CREATE INDEX outbox_by_letter ON public.outbox USING btree (letter) WHERE (letter IS NOT NULL);
CREATE INDEX outbox_due ON public.outbox USING btree (destination, next_at, "row") WHERE (status = 'pending'::text);
CREATE INDEX qc_inspections_by_deliverable ON public.qc_inspections USING btree (deliverable_id, "row");
CREATE INDEX record_changes_by_key ON public.record_changes USING btree (key);
CREATE UNIQUE INDEX records_by_id ON public.records USING btree (org_id, object, id);
CREATE INDEX records_by_object ON public.records USING btree (org_id, object, "row");
CREATE INDEX schedules_by_code ON public.schedules USING btree (code, "position");
CREATE INDEX schedules_due ON public.schedules USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX sessions_by_token ON public.sessions USING btree (token_id) WHERE (token_id IS NOT NULL);
CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id);
CREATE INDEX shifts_by_org ON public.shifts USING btree (org_id, "row");
CREATE INDEX shifts_to_end ON public.shifts USING btree (ends_at) WHERE ((ended_at IS NULL) AND (ends_at IS NOT NULL));
CREATE INDEX stats_by_time ON public.stats USING btree (at);
CREATE INDEX task_comments_by_task ON public.task_comments USING btree (task_id, "row");
CREATE INDEX task_dependencies_by_other ON public.task_dependencies USING btree (depends_on);
CREATE INDEX task_escalations_by_task ON public.task_escalations USING btree (task_id, "row");
CREATE INDEX task_holds_open ON public.task_holds USING btree (task_id) WHERE (released_at IS NULL);
CREATE INDEX task_holds_until ON public.task_holds USING btree (until) WHERE ((released_at IS NULL) AND (until IS NOT NULL));
CREATE INDEX tasks_attention ON public.tasks USING btree (org_id, "row") WHERE (needs_attention = 1);
CREATE INDEX tasks_by_fix_of ON public.tasks USING btree (fix_of_task_id) WHERE (fix_of_task_id IS NOT NULL);
CREATE INDEX tasks_by_org ON public.tasks USING btree (org_id, "row");
CREATE INDEX tasks_by_owner ON public.tasks USING btree (assigned_to, "row") WHERE (assigned_to IS NOT NULL);
CREATE INDEX tasks_by_project ON public.tasks USING btree (org_id, project_id, "row");
CREATE INDEX tasks_by_status ON public.tasks USING btree (org_id, status, "row");
CREATE INDEX tasks_due ON public.tasks USING btree (due_at) WHERE ((due_at IS NOT NULL) AND (overdue_at IS NULL) AND (status <> ALL (ARRAY['done'::text, 'canceled'::text])));
CREATE UNIQUE INDEX tasks_one_of_an_owner ON public.tasks USING btree (assigned_to) WHERE (status = ANY (ARRAY['assigned'::text, 'in_progress'::text, 'submitted'::text]));
CREATE INDEX tasks_pool ON public.tasks USING btree (org_id, priority DESC, created_at, id) INCLUDE (required_trade, project_id, "row") WHERE (status = 'available'::text);
CREATE UNIQUE INDEX tokens_by_hash ON public.tokens USING btree (hash);
CREATE INDEX tokens_by_user ON public.tokens USING btree (user_id, id);
CREATE INDEX triggers_by_topic ON public.triggers USING btree (type, topic);
CREATE UNIQUE INDEX users_by_email ON public.users USING btree (email) WHERE (email IS NOT NULL);
CREATE INDEX wait_assignees_by_wait ON public.wait_assignees USING btree (wait);
CREATE INDEX waits_by_correlation ON public.waits USING btree (org_id, correlation, "row") WHERE (correlation IS NOT NULL);
CREATE UNIQUE INDEX waits_by_execution ON public.waits USING btree (execution, step_code, visit);
CREATE TRIGGER record_deleted AFTER DELETE ON public.records FOR EACH ROW EXECUTE FUNCTION public.record_deleted();
CREATE TRIGGER task_transitions_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON public.task_transitions FOR EACH STATEMENT EXECUTE FUNCTION public.task_transitions_stay();
