"""What was applied by a pass that was killed before it told so: the record is of another desire, and counts no more."""

from __future__ import annotations

from copy import deepcopy

from takara_sync.desired import as_recorded, fields_hash
from takara_sync.objects import Deployment, Takara
from tests.unit.build import Json, body, decoded, deployment, deployment_json, settled
from tests.unit.fake import FakeCluster
from tests.unit.passing import ONE, result, run

LATER = "2026-01-01T00:00:01Z"


def applied_later(live: Json) -> Json:
    """The Deployment after another apply of ours, with another image, that no status tells of."""
    changed = deepcopy(live)
    (own,) = changed["metadata"]["managedFields"]
    own["time"] = LATER
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx"
    return changed


def image(cluster: FakeCluster) -> object:
    return cluster.stored["Deployment"][ONE]["spec"]["template"]["spec"]["containers"][0]["image"]


def test_the_time_of_our_entry_is_recorded_with_its_fields() -> None:
    later = decoded(Deployment, applied_later(deployment_json()))
    assert fields_hash(deployment()) != fields_hash(later)
    for contested in (False, True):
        assert not as_recorded(later, decoded(Takara, settled()), body(), contested=contested)


def test_a_record_of_another_generation_does_not_count() -> None:
    assert as_recorded(deployment(), decoded(Takara, settled(generation=1)), body(), contested=False)
    assert not as_recorded(deployment(), decoded(Takara, settled(generation=3)), body(), contested=False)


def test_an_apply_of_another_program_that_was_not_told_is_undone() -> None:
    cluster = FakeCluster(settled(), applied_later(deployment_json()))
    assert result(run(cluster)) == "updated"
    assert image(cluster) == "busybox"


def test_an_edit_that_was_applied_untold_and_taken_back_is_undone() -> None:
    live = applied_later(deployment_json())
    live["metadata"]["managedFields"][0]["time"] = deployment_json()["metadata"]["managedFields"][0]["time"]
    cluster = FakeCluster(settled(generation=3), live)  # within the second of the apply that is recorded
    assert result(run(cluster)) == "updated"
    assert image(cluster) == "busybox"
    assert result(run(cluster)) == "unchanged"
