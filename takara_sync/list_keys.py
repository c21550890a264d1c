"""How server-side apply merges the lists and objects of a Deployment, by field name. Pure.

Source: the `x-kubernetes-*` extensions of the OpenAPI document of Kubernetes 1.36
(https://github.com/kubernetes/kubernetes/blob/v1.36.0/api/openapi-spec/swagger.json), for every type in
io.k8s.api.apps.v1.Deployment. The fields below an atomic field are not listed: they have the owner of that field.
tests/unit/test_list_keys.py derives the same tables from the schemas of kubernetes-validate.

The field name is enough as a key: in a Deployment, fields of the same name merge in the same way.
A list that is not in these tables is atomic; an object that is not in them merges field by field.
"""

from __future__ import annotations

# Lists of objects that merge item by item (x-kubernetes-list-type: map), and the keys of their items.
KEYS: dict[str, tuple[str, ...]] = {
    "claims": ("name",),
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "ports": ("containerPort", "protocol"),
    "resourceClaims": ("name",),
    "schedulingGates": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
# The default value of a key that an item omits.
KEY_DEFAULTS = {"protocol": "TCP"}
# Lists with keys whose items have one owner each (the type of the item is x-kubernetes-map-type: atomic).
ATOMIC_ITEMS = frozenset({"imagePullSecrets", "ownerReferences"})
# Lists of scalars that merge value by value (x-kubernetes-list-type: set).
SETS = frozenset({"finalizers"})
# Objects that have one owner (x-kubernetes-map-type: atomic).
ATOMIC = frozenset(
    {
        *("configMapKeyRef", "dataSource", "fieldRef", "fileKeyRef", "labelSelector", "nodePublishSecretRef"),
        *("nodeSelector", "requiredDuringSchedulingIgnoredDuringExecution", "resourceFieldRef", "secretKeyRef"),
        *("secretRef", "selector"),
    }
)
