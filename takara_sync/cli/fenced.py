"""`takara-sync check`: two dry runs show if the policy of k8s/base/fence.yaml restricts these credentials."""

from __future__ import annotations

import uuid

import msgspec

from takara_sync.cli.findings import Proof
from takara_sync.deadline import Deadline
from takara_sync.desired import Manifest, deployment_for, with_identity
from takara_sync.errors import DeniedOnAdmission, ObjectError
from takara_sync.kube.api import Api
from takara_sync.kube.response import Request
from takara_sync.objects import Takara

RESTRICTED = "the admission policy restricts these credentials in namespace {}"
_OUR_WORDS = "takara-sync may "  # each message of the policy begins with them


def proofs(api: Api, deadline: Deadline, namespace: str) -> tuple[Proof, Proof]:
    """A Deployment without owner has to be denied, and the default Deployment to be admitted.

    Raises:
        PassStopped: the server cannot be reached.
    """
    name, uid = f"takara-sync-check-{uuid.uuid4().hex[:8]}", str(uuid.uuid4())
    metadata = {"name": name, "namespace": namespace, "uid": uid}
    takara = msgspec.convert({"metadata": metadata, "spec": {"size": 0}}, Takara)
    default = with_identity(deployment_for(takara), takara, None)
    unowned = default | {"metadata": default["metadata"] | {"ownerReferences": []}}
    return _denied(_dry_run(api, deadline, unowned), namespace), _admitted(_dry_run(api, deadline, default), namespace)


def _dry_run(api: Api, deadline: Deadline, manifest: Manifest) -> ObjectError | None:
    """The error of a create that is not stored; None if it succeeds."""
    path = f"/apis/apps/v1/namespaces/{manifest['metadata']['namespace']}/deployments"
    try:
        api.send(Request("POST", path, (("dryRun", "All"),), manifest), deadline)
    except ObjectError as error:
        return error
    return None


def _denied(error: ObjectError | None, namespace: str) -> Proof:
    what = RESTRICTED.format(namespace)
    if error is None:
        return Proof(what, ok=False, detail="a Deployment without owner was admitted; apply k8s/base/fence.yaml again")
    if isinstance(error, DeniedOnAdmission) and _OUR_WORDS in error.message:
        return Proof(what, ok=True)
    return Proof(what, None, error.message)


def _admitted(error: ObjectError | None, namespace: str) -> Proof:
    """The message of the policy lists what admission adds, and says what to do."""
    what = f"the default Deployment is admitted in namespace {namespace}"
    return Proof(what, ok=True) if error is None else Proof(what, ok=False, detail=str(error))
