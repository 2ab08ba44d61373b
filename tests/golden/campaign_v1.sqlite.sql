CREATE TABLE campaign_schema ( version_num VARCHAR(32) NOT NULL, CONSTRAINT campaign_schema_pkc PRIMARY KEY (version_num) )
CREATE TABLE campaign ( id TEXT NOT NULL, name TEXT NOT NULL, systems TEXT NOT NULL, protocol TEXT NOT NULL, layout TEXT NOT NULL, seed BIGINT NOT NULL, state TEXT NOT NULL, raters_per_hit INTEGER NOT NULL, hold DOUBLE NOT NULL, settings TEXT NOT NULL, created BIGINT NOT NULL, PRIMARY KEY (id), CONSTRAINT campaign_state CHECK (state IN ('draft', 'open', 'paused', 'closed')) )
CREATE TABLE hit ( "key" INTEGER NOT NULL, campaign TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY ("key"), CONSTRAINT hit_once UNIQUE (campaign, id), FOREIGN KEY(campaign) REFERENCES campaign (id) )
CREATE TABLE task ( "key" INTEGER NOT NULL, campaign TEXT NOT NULL, hit INTEGER NOT NULL, id TEXT NOT NULL, position INTEGER NOT NULL, item TEXT NOT NULL, expected DOUBLE, PRIMARY KEY ("key"), CONSTRAINT task_once UNIQUE (hit, id), FOREIGN KEY(hit) REFERENCES hit ("key") )
CREATE INDEX task_by_item ON task (campaign, item)
CREATE TABLE shown ( task INTEGER NOT NULL, slot INTEGER NOT NULL, system TEXT NOT NULL, text TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (task, slot), FOREIGN KEY(task) REFERENCES task ("key") )
CREATE TABLE assignment ( id INTEGER NOT NULL, campaign TEXT NOT NULL, hit INTEGER NOT NULL, slot INTEGER NOT NULL, turn INTEGER NOT NULL, state TEXT NOT NULL, rater TEXT NOT NULL, claimed BIGINT, active BIGINT, finished BIGINT, client TEXT NOT NULL, seconds DOUBLE, status TEXT NOT NULL, PRIMARY KEY (id), CONSTRAINT assignment_turn UNIQUE (hit, slot, turn), CONSTRAINT assignment_state CHECK (state IN ('open', 'held', 'done', 'abandoned')), CONSTRAINT assignment_rater CHECK ((state = 'open') = (rater = '')), FOREIGN KEY(hit) REFERENCES hit ("key") )
CREATE INDEX assignment_next ON assignment (campaign, state, slot, hit)
CREATE INDEX assignment_by_rater ON assignment (campaign, rater)
CREATE UNIQUE INDEX assignment_slot_once ON assignment (hit, slot) WHERE state <> 'abandoned'
CREATE UNIQUE INDEX assignment_rater_once ON assignment (hit, rater) WHERE rater <> ''
CREATE UNIQUE INDEX assignment_one_held ON assignment (campaign, rater) WHERE state = 'held'
CREATE TABLE judgment ( id INTEGER NOT NULL, assignment INTEGER NOT NULL, task INTEGER NOT NULL, slot INTEGER NOT NULL, criterion TEXT NOT NULL, score DOUBLE NOT NULL, z DOUBLE, position INTEGER NOT NULL, started BIGINT, submitted BIGINT, received BIGINT NOT NULL, client TEXT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(task, slot) REFERENCES shown (task, slot), CONSTRAINT judgment_once UNIQUE (assignment, task, slot, criterion), FOREIGN KEY(assignment) REFERENCES assignment (id) )
CREATE TABLE event ( id INTEGER NOT NULL, campaign TEXT NOT NULL, time BIGINT NOT NULL, actor TEXT NOT NULL, what TEXT NOT NULL, about TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(campaign) REFERENCES campaign (id) )
CREATE INDEX event_about ON event (campaign, about)
CREATE TRIGGER judgment_no_update BEFORE UPDATE ON judgment BEGIN SELECT RAISE(ABORT, 'rows of judgment are never changed or removed'); END
CREATE TRIGGER judgment_no_delete BEFORE DELETE ON judgment BEGIN SELECT RAISE(ABORT, 'rows of judgment are never changed or removed'); END
CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'rows of event are never changed or removed'); END
CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'rows of event are never changed or removed'); END
INSERT INTO campaign_schema VALUES ('1')
