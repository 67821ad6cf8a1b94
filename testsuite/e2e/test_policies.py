#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Admission policies as users of kubectl meet them: what is refused, what is set, and that
everything else is accepted. Namespace "managed" has the label slurm-kube.io/managed=true; alice may
work with pods and Jobs.
"""
import json
import signal
import time

from lib import Cluster, equal, pod, run, wait_for
from lib.admin import skube
from lib.expect import fill, job_in_state, uid_of, wait_no_live_jobs, wait_reason
from lib.kube import ApiError
from lib.process import SOURCE, output_of

POLICIES = [
    SOURCE / "etc" / name
    for name in ("policies.yaml", "policy-scheduler-name.yaml", "policy-options.yaml")
]
JOB_ID = "allocation.slurm-kube.io/job-id"
FORGED = {JOB_ID: "1"}


def _apply(bed, manifest, user="alice"):
    """The error message of kubectl; empty: the manifest was accepted."""
    try:
        bed.plane.kubectl("create", "-f", "-", user=user, stdin=json.dumps(manifest))
    except RuntimeError as e:
        return str(e)
    return ""


def _refused(said, *parts):
    assert said, "was accepted"
    for part in parts:
        assert part in said, f"'{part}' is not in: {said}"


def _forbidden(call, part):
    """A request of the test's own client must fail with this text."""
    try:
        call()
    except ApiError as e:
        assert part in str(e), e
        return
    raise AssertionError("was accepted")


def _pod(name, space="default", **options):
    made = pod(name, **options)
    made["metadata"]["namespace"] = space
    return made


def _templates(name, annotations):
    """One object of each kind that creates pods, none of which creates any here."""
    template = {
        "metadata": {"labels": {"app": name}, "annotations": annotations},
        "spec": pod(name)["spec"],
    }
    always = {**template, "spec": {**template["spec"], "restartPolicy": "Always"}}
    chosen = {"selector": {"matchLabels": {"app": name}}}
    for kind, group, spec in (
        ("Job", "batch/v1", {"suspend": True, "template": template}),
        (
            "CronJob",
            "batch/v1",
            {
                "schedule": "0 0 1 1 *",
                "suspend": True,
                "jobTemplate": {"spec": {"template": template}},
            },
        ),
        ("Deployment", "apps/v1", {"replicas": 0, "template": always, **chosen}),
        ("ReplicaSet", "apps/v1", {"replicas": 0, "template": always, **chosen}),
        (
            "StatefulSet",
            "apps/v1",
            {"replicas": 0, "serviceName": "x", "template": always, **chosen},
        ),
        (
            "DaemonSet",
            "apps/v1",
            {
                "template": {**always, "spec": {**always["spec"], "nodeSelector": {"no": "node"}}},
                **chosen,
            },
        ),
        ("ReplicationController", "v1", {"replicas": 0, "template": always}),
    ):
        yield {
            "apiVersion": group,
            "kind": kind,
            "metadata": {"name": f"{name}-{kind.lower()}", "namespace": "default"},
            "spec": spec,
        }


def test_policies_are_well_typed(bed):
    """The API server has checked every expression against every kind that it matches, and has no
    warning.
    """
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"

    def checked():
        items = bed.kube.request("GET", policies)["items"]
        return items if all(i["status"].get("observedGeneration") for i in items) else None

    items = wait_for(checked, "the types to be checked")
    equal(
        {
            i["metadata"]["name"]: i["status"].get("typeChecking", {}).get("expressionWarnings", [])
            for i in items
            if i["status"].get("typeChecking")
        },
        {i["metadata"]["name"]: [] for i in items if i["status"].get("typeChecking")},
    )


def test_pods_still_run(bed):
    """The agent's binding with its annotations is accepted, kubelets write statuses, and the pod
    ends normally.
    """
    equal(
        _apply(
            bed, _pod("plain", kwok={"run": "10ms"}, annotations={"slurm-kube.io/timelimit": "5"})
        ),
        "",
    )
    bed.kube.wait_phase("plain", "Succeeded")
    seen = bed.kube.get("Pod", "plain")
    equal(job_in_state(bed, seen, "COMPLETED")["JobId"], seen["metadata"]["annotations"][JOB_ID])


def test_allocation_keys_are_the_agents(bed):
    """No other user writes, changes or removes these keys: not on a new pod, not on a running one,
    neither by its status nor by a binding. Administrators cannot, either.
    """
    why = "written by slurmkubed only"
    _refused(_apply(bed, _pod("forged", annotations=FORGED)), why)
    _refused(_apply(bed, _pod("forged", annotations=FORGED), "admin"), why)
    (made,) = fill(bed, "owned", 1)
    for user in ("alice", "admin"):
        client = bed.plane.client(user)
        for change in ({JOB_ID: "4711"}, {JOB_ID: None}, {"allocation.slurm-kube.io/new": "x"}):
            _forbidden(
                lambda c=client, a=change: c.patch(
                    "Pod", "owned-0", {"metadata": {"annotations": a}}
                ),
                why,
            )
    _forbidden(
        lambda: bed.kube.patch(
            "Pod", "owned-0", {"metadata": {"annotations": {JOB_ID: "4711"}}}, "status"
        ),
        why,
    )
    bed.kube.patch(
        "Pod",
        "owned-0",
        {"metadata": {"annotations": {"example.com/note": "mine"}, "labels": {"a": "b"}}},
    )
    bed.kube.create(_pod("unbound", scheduler="other"))
    _forbidden(lambda: bed.kube.bind("unbound", bed.names[0], FORGED), why)
    assert made
    for name in ("owned-0", "unbound"):
        bed.kube.delete("Pod", name)


def test_templates_may_not_hold_allocation_keys(bed):
    """Every kind that creates pods is refused with such a template, and accepted with an option in
    it.
    """
    for manifest in _templates("forged", FORGED):
        _refused(_apply(bed, manifest, "admin"), "written by slurmkubed only")
    for manifest in _templates("fine", {"slurm-kube.io/timelimit": "5"}):
        equal(_apply(bed, manifest, "admin"), "", manifest["kind"])


def _options(**options):
    return {f"slurm-kube.io/{k.replace('_', '-')}": v for k, v in options.items()}


def test_bad_options_are_refused_at_apply(bed):
    """Unknown names and invalid values are refused with key, value and the valid values, on pods
    and in every kind of template.
    """
    for bad, text in (
        ({"time_limit": "5"}, "slurm-kube.io/time-limit=5: unknown option"),
        ({"timelimit": "soon"}, "slurm-kube.io/timelimit=soon: must be MINUTES"),
        ({"nice": "very"}, "slurm-kube.io/nice=very: must be NUMBER"),
        ({"hold": "perhaps"}, "slurm-kube.io/hold=perhaps: must be true|false"),
        ({"comment": "a=b", "min_nodes": "1=2"}, "slurm-kube.io/min-nodes=1=2: must be COUNT"),
    ):
        _refused(_apply(bed, _pod("bad", annotations=_options(**bad))), text)
    for manifest in _templates("bad", _options(timelimit="soon")):
        _refused(_apply(bed, manifest, "admin"), "slurm-kube.io/timelimit=soon: must be MINUTES")
    fine = _options(
        timelimit="1-0:30",
        nice="5",
        hold="",
        comment="soon = now",
        sbatch="--time=5",
        exclusive="user",
        account="any",
    )
    equal(
        _apply(
            bed,
            _pod("good", scheduler="other", annotations={**fine, "example.com/timelimit": "soon"}),
        ),
        "",
    )
    bed.kube.patch("Pod", "good", {"metadata": {"annotations": _options(timelimit="6")}})
    _forbidden(
        lambda: bed.kube.patch(
            "Pod", "good", {"metadata": {"annotations": _options(timelimit="never")}}
        ),
        "timelimit=never: must be",
    )
    bed.kube.delete("Pod", "good")


def test_what_was_there_before_can_be_worked_with(bed):
    """A pod with a bad option from before the policy may be labelled and corrected; its other
    options are checked.
    """
    policy = bed.plane.kubectl(
        "get", "validatingadmissionpolicybinding", "slurm-kube-options", "-o", "json"
    )
    bed.plane.kubectl("delete", "validatingadmissionpolicybinding", "slurm-kube-options")
    wait_for(
        lambda: bed_says(
            bed, _pod("old", scheduler="other", annotations=_options(timelimit="soon"))
        )
        == "",
        "the policy to be gone",
    )
    bed.kube.create(_pod("old", scheduler="other", annotations=_options(timelimit="soon")))
    binding = json.loads(policy)
    binding["metadata"] = {"name": binding["metadata"]["name"]}
    bed.plane.kubectl("create", "-f", "-", stdin=json.dumps(binding))
    wait_for(
        lambda: bed_says(
            bed, _pod("new", scheduler="other", annotations=_options(timelimit="soon"))
        ),
        "the policy to hold again",
    )
    bed.kube.patch("Pod", "old", {"metadata": {"labels": {"a": "b"}}})
    _forbidden(
        lambda: bed.kube.patch("Pod", "old", {"metadata": {"annotations": _options(nice="very")}}),
        "nice=very: must be NUMBER",
    )
    bed.kube.patch("Pod", "old", {"metadata": {"annotations": _options(timelimit="7")}})
    bed.kube.delete("Pod", "old")


def test_pods_are_not_resized(bed):
    """No in-place resize while a pod holds an allocation or waits for one; pods of other schedulers
    are not affected.
    """
    fill(bed, "fixed", 1)
    statuses = bed.kube.get("Pod", "fixed-0")["status"][
        "containerStatuses"
    ]  # a kubelet that can resize reports the resources of containers; kwok does not
    bed.kube.patch(
        "Pod",
        "fixed-0",
        {
            "status": {
                "containerStatuses": [
                    {**s, "resources": {"requests": {"cpu": "1"}}} for s in statuses
                ]
            }
        },
        "status",
    )
    bed.kube.create(_pod("waiting", cpu=100))
    bed.kube.create(_pod("free", scheduler="other"))
    change = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}}

    def resize(name):
        return bed.kube.request(
            "PATCH",
            bed.kube.path("Pod", name, "resize"),
            change,
            "application/strategic-merge-patch+json",
        )

    for name in ("fixed-0", "waiting"):
        _forbidden(lambda n=name: resize(n), "Slurm counts what this pod requests")
    resize("free")
    for name in ("fixed-0", "waiting", "free"):
        bed.kube.delete("Pod", name)


def test_managed_namespaces_run_through_slurm(bed):
    """schedulerName is set where the user set none; another scheduler, or a node chosen by the
    user, is refused. Other namespaces are not affected.
    """
    plain = _pod("unnamed", "managed", kwok={"run": "10ms"})
    del plain["spec"]["schedulerName"]
    equal(_apply(bed, plain), "")
    bed.kube.wait_phase("managed/unnamed", "Succeeded")
    seen = bed.kube.get("Pod", "managed/unnamed")
    equal(
        (seen["spec"]["schedulerName"], job_in_state(bed, seen, "COMPLETED")["JobState"]),
        ("slurm", "COMPLETED"),
    )
    _refused(_apply(bed, _pod("other", "managed", scheduler="other")), "write schedulerName: slurm")
    for scheduler in ("slurm", "default-scheduler"):
        _refused(
            _apply(
                bed, _pod("pinned", "managed", scheduler=scheduler, spec={"nodeName": bed.names[0]})
            ),
            "Slurm chooses the node",
        )
    equal(_apply(bed, _pod("other", scheduler="other")), "")
    elsewhere = _pod("elsewhere")
    del elsewhere["spec"]["schedulerName"]
    equal(_apply(bed, elsewhere), "")
    equal(bed.kube.get("Pod", "elsewhere")["spec"]["schedulerName"], "default-scheduler")


def test_daemonsets_run_in_managed_namespaces(bed):
    """Only where an administrator allows it, because pods of a DaemonSet belong to their nodes, not
    to Slurm. Otherwise a tenant could use nodes without Slurm.
    """
    daemons = next(
        m
        for m in _templates("daemons", {"kwok.slurm-kube.test/run": "1h"})
        if m["kind"] == "DaemonSet"
    )
    daemons["metadata"]["namespace"] = "managed"
    spec = daemons["spec"]["template"]["spec"]
    del spec["nodeSelector"], spec["schedulerName"]
    equal(_apply(bed, daemons, "admin"), "")

    def refused():
        events = bed.kube.request(
            "GET", "/api/v1/namespaces/managed/events?fieldSelector=reason%3DFailedCreate"
        )["items"]
        return [
            e
            for e in events
            if e["involvedObject"]["kind"] == "DaemonSet"
            and "slurm-kube.io/daemonsets=allowed" in e["message"]
        ]

    wait_for(refused, "the DaemonSet to be told why it gets no pods")
    bed.plane.kubectl("label", "namespace", "managed", "slurm-kube.io/daemonsets=allowed")

    def theirs():
        return [p for n, p in bed.kube.now["Pod"].items() if n.startswith("managed/daemons-")]

    bed.kube.wait(lambda: len(theirs()) == len(bed.names), "a pod for each node")
    equal({p["spec"]["schedulerName"] for p in theirs()}, {"default-scheduler"})
    equal([bed.slurm.job_of_pod(uid_of(p)) for p in theirs()], [[]] * len(theirs()))
    bed.kube.request(
        "DELETE", "/apis/apps/v1/namespaces/managed/daemonsets/" + daemons["metadata"]["name"]
    )


def test_the_agents_account_touches_only_its_own_pods(bed):
    """With a stolen token nobody can delete a pod of another scheduler or write its status."""
    bed.kube.create(_pod("foreign", scheduler="other"))
    bed.kube.create(_pod("too-large", cpu=100))
    agent, why = bed.plane.client("agent"), "only pods that Slurm schedules"
    _forbidden(lambda: agent.delete("Pod", "foreign"), why)
    _forbidden(lambda: agent.patch("Pod", "foreign", {"status": {"message": "x"}}, "status"), why)
    agent.delete("Pod", "too-large")
    bed.kube.delete("Pod", "foreign")


def _printed(bed, name):
    """The output of slurmkubed for a configuration with that scheduler_name."""
    (bed.dir / "named.yaml").write_text(
        json.dumps({**bed.agent.configuration(), "scheduler_name": name})
    )
    return [
        output_of(*bed.slurm.program(bed.agent.program, "--config", bed.dir / "named.yaml", option))
        for option in ("--print-policies", "--print-scheduler-name-policy")
    ]


def _set_name(bed, name):
    """Configures agent and policies for that name, and waits until the refusal of a pod
    names it.
    """
    for text in _printed(bed, name):
        bed.plane.kubectl("apply", "-f", "-", stdin=text)
    bed.agent.settings["scheduler_name"] = name
    bed.agent.restart()
    wait_for(
        lambda: f"write schedulerName: {name}"
        in bed_says(bed, _pod("canary", "managed", scheduler="other")),
        f"the policies to be for {name}",
    )


def test_policies_follow_the_scheduler_name(bed):
    """With another scheduler_name in slurmkubed.yaml the printed policies apply to that name, and
    the agent runs the pods that they admit.
    """
    equal(_printed(bed, "slurm"), [p.read_text() for p in POLICIES[:2]])
    _set_name(bed, "hpc")
    try:
        unnamed = _pod("follows", "managed", kwok={"run": "10ms"})
        del unnamed["spec"]["schedulerName"]

        def filled_in():
            path = bed.kube.path("Pod", "managed/") + "?dryRun=All"
            return bed.kube.request("POST", path, unnamed)["spec"]["schedulerName"] == "hpc"

        wait_for(filled_in, "the name to be filled in")
        bed.kube.create(unnamed)
        bed.kube.wait_phase("managed/follows", "Succeeded")
        equal(
            job_in_state(bed, bed.kube.get("Pod", "managed/follows"), "COMPLETED")["JobState"],
            "COMPLETED",
        )
        _refused(_apply(bed, _pod("old-name", "managed")), "write schedulerName: hpc")
        bed.kube.create(_pod("grows", cpu=100, scheduler="hpc"))
        change = {
            "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}
        }

        def is_kept():
            try:
                bed.kube.request(
                    "PATCH",
                    bed.kube.path("Pod", "grows", "resize") + "?dryRun=All",
                    change,
                    "application/strategic-merge-patch+json",
                )
            except ApiError as e:
                return "Slurm counts what this pod requests" in str(e)
            return False

        wait_for(is_kept, "the resize to be refused")
        bed.kube.delete("Pod", "grows")
    finally:
        _set_name(bed, "slurm")


class PolicyTestbed(Cluster):
    """All policies are in force, and namespace "managed" exists."""

    def start_kubernetes(self):
        super().start_kubernetes()
        for policy in POLICIES:
            self.plane.kubectl("apply", "-f", policy)
        words = ("manifests", "--only", "flow-control,dashboards")
        text = output_of(*self.slurm.program(self.agent.skube_program, *words))
        self.plane.kubectl("apply", "-f", "-", stdin=text)
        self.kube.create(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": "managed", "labels": {"slurm-kube.io/managed": "true"}},
            }
        )
        self.plane.default_account("managed")
        for name, space, options in (
            ("canary", "default", {"annotations": FORGED}),
            ("canary", "managed", {"scheduler": "other"}),
            ("canary", "default", {"annotations": {"slurm-kube.io/nothing": ""}}),
        ):
            wait_for(
                lambda m=_pod(name, space, **options): "denied" in bed_says(self, m),
                f"the policies to hold in {space}",
            )
        unnamed = _pod("canary", "managed")
        del unnamed["spec"]["schedulerName"]
        wait_for(
            lambda: bed_dry_run(self, unnamed)["spec"]["schedulerName"] == "slurm",
            "the policy that names the scheduler to hold",
        )


def bed_dry_run(bed, manifest):
    """The pod that a dry run returns."""
    return bed.kube.request(
        "POST",
        bed.kube.path("Pod", f"{manifest['metadata']['namespace']}/") + "?dryRun=All",
        manifest,
    )


def bed_says(bed, manifest):
    """The error of a dry run."""
    try:
        bed_dry_run(bed, manifest)
    except ApiError as e:
        return str(e)
    return ""


def test_nothing_is_left(bed):
    """Every job of these pods has ended."""
    wait_no_live_jobs(bed)


def _teardown(bed, *options):
    """Exit status and output of skube teardown."""
    done = skube(bed, "teardown", *options)
    return done.returncode, done.stdout + done.stderr


def _forbid_bindings(name):
    """A policy of a site that admits no binding of this pod, and its binding."""
    group = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods/binding"],
    }
    check = {"expression": f"object.metadata.name != '{name}'", "message": "not on this site"}
    yield {
        **group,
        "kind": "ValidatingAdmissionPolicy",
        "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [check]},
    }
    yield {
        **group,
        "kind": "ValidatingAdmissionPolicyBinding",
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }


def test_a_binding_that_the_site_forbids_is_not_charged(bed):
    """The allocation is given back after a minute, and asked for again after a pause; a reload of
    the agent ends the pause.
    """
    for manifest in _forbid_bindings("unwanted"):
        bed.plane.kubectl("create", "-f", "-", stdin=json.dumps(manifest))
    time.sleep(2)  # the API server reads new policies once a second
    equal(_apply(bed, _pod("unwanted", kwok={"run": "10ms"})), "")
    said = wait_reason(bed, "unwanted", "SlurmRefused", "has node")
    assert "not on this site" in said, said
    equal(_apply(bed, _pod("beside", kwok={"run": "10ms"})), "")
    bed.kube.wait_phase("beside", "Succeeded")
    job_in_state(bed, bed.kube.get("Pod", "unwanted"), "FAILED", timeout=150)
    wait_reason(bed, "unwanted", "SlurmRefused", "queued again after a pause")
    wait_no_live_jobs(bed)
    for kind in ("validatingadmissionpolicybinding", "validatingadmissionpolicy"):
        bed.plane.kubectl("delete", kind, "unwanted")
    time.sleep(2)
    bed.agent.daemon.signal(signal.SIGHUP)
    bed.kube.wait_phase("unwanted", "Succeeded", timeout=20)


def test_teardown_leaves_nothing_and_ends_nothing(bed):
    """The steps are shown first. While a pod runs, teardown only keeps new ones from coming; when
    that pod has ended, it removes labels, policies and permissions. Pods may use other schedulers
    again.
    """
    fill(bed, "last", 1)
    status, said = _teardown(bed)
    equal(status, 0, said)
    assert "pod default/last-0" in said and "systemctl disable --now slurmkubed" in said, said
    status, said = _teardown(bed, "--apply")
    assert status == 1 and "pod default/last-0" in said, said
    equal(bed.kube.get("Pod", "last-0")["status"]["phase"], "Running")
    elsewhere = _pod("free-again", "managed", scheduler="other")
    wait_for(lambda: bed_says(bed, elsewhere) == "", "the policy on schedulers to be gone")
    bed.kube.delete("Pod", "last-0")
    bed.kube.wait_gone("last-0")
    wait_no_live_jobs(bed)
    bed.agent.stop()
    status, said = _teardown(bed, "--apply")
    equal(status, 0, said)
    assert f"{bed.dir}/slurm.conf:" in said and "JobSubmitPlugins=kube" in said, said
    for kind in (
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    ):
        equal(bed.plane.kubectl("get", kind, "--output", "name"), "")
    equal(
        bed.plane.kubectl(
            "get", "nodes,namespaces", "--selector", "slurm-kube.io/managed", "--output", "name"
        ),
        "",
    )
    equal(
        bed.plane.kubectl(
            "get",
            "clusterrole/slurm-kube",
            "clusterrolebinding/slurm-kube",
            "flowschema/slurm-kube",
            "prioritylevelconfiguration/slurm-kube",
            "namespace/slurm-kube",
            "--ignore-not-found",
            "--output",
            "name",
        ),
        "",
    )
    status, said = _teardown(bed)
    assert status == 0 and "kubectl" not in said, said


if __name__ == "__main__":
    run(
        lambda build: PolicyTestbed(
            build, kwok=2, agent_options={"namespaces": [{"namespace": "*", "user": "nobody"}]}
        )
    )
