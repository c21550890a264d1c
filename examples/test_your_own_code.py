"""A test of one's own code against an embedded cluster: the fixture comes with takara-sync."""

from takara_sync.pytest_plugin import TakaraCluster


def double(cluster: TakaraCluster, name: str) -> None:
    """What is tested here: your code, with your client, at cluster.url or by cluster.kubeconfig."""
    size = cluster.get("Takara", name)["spec"]["size"]
    cluster.patch("Takara", name, {"spec": {"size": 2 * size}})


def test_double(takara_cluster: TakaraCluster) -> None:
    api_version = "maho.takara.org/v1alpha1"
    takara_cluster.create({"apiVersion": api_version, "kind": "Takara", "metadata": {"name": "x"}, "spec": {"size": 2}})
    double(takara_cluster, "x")
    takara_cluster.sync().raise_for_failure()
    takara_cluster.settle()
    assert takara_cluster.get("Deployment", "x")["spec"]["replicas"] == 4
    assert len(takara_cluster.list("Pod")) == 4
