# SPDX-License-Identifier: GPL-2.0-or-later
"""How the agent finds the API server and its identity: kubeconfig, service accounts, certificates.
"""
import base64
import os

from registry import contains, equal, test


@test
def a_kubeconfig_is_read_with_files_beside_it(bed):
    found = bed.access(bed.direct)
    equal(
        (found["ok"], found["server"], found["namespace"]),
        (True, f"https://127.0.0.1:{bed.plane.port}", "ns"),
    )
    equal(found["ca"], bed.plane.path("pki/ca.crt"))


@test
def data_fields_work_as_files_do(bed):
    def data(name):
        return base64.b64encode(bed.plane.read(name).encode() + b"\n").decode()

    file = bed.plane.kubeconfig(
        "data.yaml",
        (
            f"client-certificate-data: {data('pki/admin.crt')}\n    client-key-data:"
            f" {data('pki/admin.key')}"
        ),
        cluster=f"certificate-authority-data: {data('pki/ca.crt')}",
    )
    equal(bed.probe(file)("version")["git_version"][:2], "v1")


@test
def wrong_kubeconfigs_say_where_and_what_to_do(bed):
    ca = "certificate-authority: pki/ca.crt"
    cases = [
        ("exec: {command: aws}", ca, ":13: users[].user.exec: is not supported; give a token"),
        ("username: x", ca, "users[].user.username: is not supported"),
        ("x: y", ca, "users[].user: has no credentials; give a token"),
        ("client-certificate: pki/admin.crt", ca, "one is missing"),
        ('client-certificate-data: "%%"', ca, ":13: client-certificate-data: is not base64"),
        ("tokenFile: none", ca, ":13: tokenFile: cannot read '"),
        ("token: x", "certificate-authority: none.crt", ":9: certificate-authority: cannot read '"),
        (
            "token: x",
            ca + "\n    insecure-skip-tls-verify: true",
            ":10: insecure-skip-tls-verify: cannot stand beside",
        ),
        ("token: [", ca, ": not YAML"),
        ("token: *x", ca, "aliases are not supported"),
    ]
    for user, cluster, message in cases:
        file = bed.plane.kubeconfig("wrong.yaml", user, cluster=cluster)
        found = bed.access(file)
        equal(found["ok"], False)
        contains(found["what"], message)
        contains(found["what"], file + ":")
    good = bed.plane.kubeconfig("good.yaml", "token: x")
    contains(bed.access(good, "other")["what"], "there is no entry named 'other'")
    http = bed.plane.write("http.yaml", bed.plane.read("good.yaml").replace("https:", "http:"))
    contains(bed.access(http)["what"], "is not https://HOST:PORT")
    equal(bed.access(bed.plane.path("absent.yaml"))["code"], "not_found")


@test
def a_service_account_directory_is_enough_in_a_pod(bed):
    directory = bed.plane.path("sa")
    os.mkdir(directory)
    env = dict(os.environ, KUBERNETES_SERVICE_HOST="::1", KUBERNETES_SERVICE_PORT="443")
    contains(bed.access("in-cluster", directory, env=env)["what"], "/sa/token")
    bed.plane.write("sa/token", "x")
    bed.plane.write("sa/ca.crt", "x")
    bed.plane.write("sa/namespace", "space\n")
    found = bed.access("in-cluster", directory, env=env)
    equal(
        (found["server"], found["namespace"], found["token_file"]),
        ("https://[::1]:443", "space", directory + "/token"),
    )
    contains(
        bed.access("in-cluster", directory, env={"PATH": os.environ["PATH"]})["what"],
        "not in a pod",
    )


@test
def tls_names_and_authorities_are_checked(bed):
    named = bed.plane.kubeconfig(
        "named.yaml",
        bed.admin,
        cluster="certificate-authority: pki/ca.crt\n    tls-server-name: kubernetes.default.svc",
    )
    equal(bed.probe(named)("version")["ok"], True)
    other = bed.plane.kubeconfig(
        "other.yaml",
        bed.admin,
        cluster="certificate-authority: pki/ca.crt\n    tls-server-name: example.org",
    )
    equal(bed.probe(other)("version")["code"], "denied")
    foreign = bed.plane.kubeconfig(
        "foreign.yaml", bed.admin, cluster="certificate-authority: pki/admin.crt"
    )
    equal(bed.probe(foreign)("version")["code"], "denied")
    careless = bed.plane.kubeconfig(
        "careless.yaml", bed.admin, cluster="insecure-skip-tls-verify: true"
    )
    equal(bed.probe(careless)("version")["ok"], True)
