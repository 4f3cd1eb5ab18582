-- tell_end: add the event that tells of a job's end, in the transaction that ends it, whoever does. A trigger, because
-- workers of the release before end jobs too while a new one starts; it costs nothing where nobody is to be told.
CREATE FUNCTION tell_end() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_form CONSTANT text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
    v_event text := CASE WHEN NEW.state IN ('succeeded', 'partial') THEN 'job.completed'
                         WHEN NEW.state = 'cancelled' THEN 'job.cancelled' ELSE 'job.failed' END;
BEGIN
    IF NEW.webhook_events IS NOT NULL AND v_event <> ALL (NEW.webhook_events) THEN
        RETURN NULL;
    END IF;
    INSERT INTO webhook_delivery (id, account_id, job_id, url, event, body)
    VALUES (gen_random_uuid(), NEW.account_id, NEW.id, NEW.webhook_url, v_event, json_build_object(
        'type', v_event,
        'timestamp', to_char(NEW.finished_at AT TIME ZONE 'UTC', v_form),
        -- As GET /jobs/{id} shows it (api/work/job_documents.py), but for its progress, whose unit only the kind knows.
        'data', json_build_object(
            'id', NEW.id, 'kind', NEW.kind, 'state', NEW.state,
            'items', json_build_object('total', NEW.items_total, 'ok', NEW.items_ok, 'failed', NEW.items_failed),
            'credits', json_build_object('held', NEW.credits_held, 'captured', NEW.credits_captured,
                                         'released', NEW.credits_held - NEW.credits_captured),
            'error', NEW.error - 'status' - 'retry_after_seconds',
            'created_at', to_char(NEW.created_at AT TIME ZONE 'UTC', v_form),
            'started_at', to_char(NEW.started_at AT TIME ZONE 'UTC', v_form),
            'finished_at', to_char(NEW.finished_at AT TIME ZONE 'UTC', v_form),
            'expires_at', to_char(NEW.expires_at AT TIME ZONE 'UTC', v_form),
            'engine', NEW.engine, 'route', NEW.route, 'source', NEW.source,
            'name', CASE WHEN jsonb_typeof(NEW.request -> 'name') = 'string' THEN NEW.request ->> 'name' END,
            'request_id', NEW.request_id,
            'links', json_build_object('self', '/jobs/' || NEW.id, 'result', '/jobs/' || NEW.id || '/result')
        ))::text);
    RETURN NULL;
END $$;

CREATE TRIGGER job_ended AFTER UPDATE OF finished_at ON job FOR EACH ROW
WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL AND NEW.webhook_url IS NOT NULL)
EXECUTE FUNCTION tell_end();
