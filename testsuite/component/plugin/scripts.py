# SPDX-License-Identifier: GPL-2.0-or-later
"""What a site's own scripts, plugins and root do to jobs of pods: they stay known, one for a pod,
and on nodes of Kubernetes.
"""
import os
import signal
import time

from lab import Skip, eventually, marker

NOBODY = 65534
ACCESS_DENIED, DUPLICATE = 2002, 2011

LUA = """
function slurm_job_submit(job, partitions, uid)
{submit}
	return slurm.SUCCESS
end
function slurm_job_modify(change, job, partitions, uid)
{modify}
	return slurm.SUCCESS
end
return slurm.SUCCESS
"""


def restart(lab, how=signal.SIGTERM, **conf):
    if conf:
        lab.write_conf(**conf)
    lab.kill_slurmctld(how)
    lab.start_slurmctld()


def use_lua(lab, order, submit="", modify=""):
    if not lab.has_plugin("job_submit_lua.so"):
        raise Skip("this Slurm was built without Lua")
    with open(f"{lab.run}/job_submit.lua", "w", encoding="utf-8") as f:
        f.write(LUA.format(submit=submit, modify=modify))
    restart(lab, submit=f"JobSubmitPlugins={order}")


def use_kube_alone(lab):
    restart(lab, submit="JobSubmitPlugins=kube", extra="")


def what_a_script_tells_the_user_is_in_the_submitters_log(lab, peer):
    """libslurm writes it there, whoever submits; it is in no answer of its functions."""
    del peer
    use_lua(
        lab,
        "lua,kube",
        submit='\tslurm.log_user("no project, no pod")\n\tif true then return slurm.ERROR end',
    )
    try:
        answer = lab.submit(marker("lua-says-no"))
        assert not answer.ok and "error: no project, no pod" in answer.messages, vars(answer)
    finally:
        use_kube_alone(lab)


PROLOG = """#!/bin/sh
echo "$SLURM_JOB_ID" >> {run}/prolog.began
until [ -e {run}/prolog.goes_on ]; do sleep 0.05; done
exit "$(cat {run}/prolog.goes_on)"
"""


def use_prolog(lab, peer):
    path = f"{lab.run}/prolog"
    with open(path, "w", encoding="utf-8") as f:
        f.write(PROLOG.format(run=lab.run))
    os.chmod(path, 0o755)
    since = len(peer.lines)
    restart(lab, extra=f"PrologSlurmctld={path}")
    assert peer.wait("hello", after=since, prolog=True), peer.last("hello")


def let_prolog_end(lab, status):
    with open(f"{lab.run}/prolog.goes_on.new", "w", encoding="utf-8") as f:
        f.write(str(status))
    os.rename(f"{lab.run}/prolog.goes_on.new", f"{lab.run}/prolog.goes_on")


def a_prolog_is_told_from_its_start_to_its_end(lab, peer):
    """PrologSlurmctld: the job has its node, and is configuring until the script is over; one that
    fails ends the job.
    """
    assert peer.last("hello")[1]["prolog"] is False, peer.last("hello")
    use_prolog(lab, peer)
    try:
        for uid, status in (("prolog-well", 0), ("prolog-fails", 1)):
            since = len(peer.lines)
            job = lab.submit(marker(uid)).job
            assert peer.wait(
                "job", after=since, id=job, state="running", configuring=True
            ), peer.last("job", id=job)
            assert eventually(
                lambda: os.path.exists(f"{lab.run}/prolog.began")
            ), "the script does not run"
            time.sleep(0.3)
            assert not peer.find(
                "job", after=since, id=job, configuring=False, state="running"
            ), "told too early"
            let_prolog_end(lab, status)
            if status == 0:
                line = peer.wait("job", after=since, id=job, state="running", configuring=False)
                assert line and line[1]["nodes"], peer.last("job", id=job)
                assert lab.complete(job).ok
            else:
                assert peer.wait(
                    "job", after=since, id=job, state="cancelled", configuring=True, ended_by=0
                ), peer.last("job", id=job)
            assert eventually(
                lambda: peer.last("job", id=job)[1]["completing"] is False
            ), peer.last("job", id=job)
            assert peer.last("job", id=job)[1]["configuring"] is (status != 0), peer.last(
                "job", id=job
            )
            for name in ("prolog.began", "prolog.goes_on"):
                os.unlink(f"{lab.run}/{name}")
    finally:
        use_kube_alone(lab)


def comment_of(lab, job):
    text = lab.command("scontrol", "show", "job", str(job), "--oneliner").stdout
    return (
        text.partition("AdminComment=")[2].partition(" SystemComment=")[0].partition(" StdErr=")[0]
    )


def is_whole(lab, job, uid, note):
    comment = comment_of(lab, job)
    return f'"uid":"{uid}"' in comment and f'"note":"{note}"' in comment


def stays(lab, peer, job, uid, note, since):
    """It has its marker and the site's text, nobody was told that it is gone, and no second one is
    made.
    """
    assert eventually(lambda: is_whole(lab, job, uid, note)), comment_of(lab, job)
    again = lab.submit(marker(uid))
    assert not again.ok and again.error == DUPLICATE, vars(again)
    assert not peer.find("job_gone", after=since, id=job), peer.last("job_gone", id=job)


def a_restart_forgets_nobody(lab, peer, jobs):
    assert eventually(lambda: all(lab.saved(f'"uid":"{uid}"') for uid in jobs)), "never saved"
    before = len(peer.lines)
    restart(lab, signal.SIGKILL)
    shown = eventually(lambda: peer.snapshot(before))
    for uid, job in jobs.items():
        assert shown and shown.get(job, {}).get("marker", {}).get("uid") == uid, (uid, job, shown)


def what_root_writes_over_a_marker_stays_beside_it(lab, peer):
    since = len(peer.lines)
    job = lab.submit(marker("rooted")).job
    for text in ("drained by ops", "second"):
        result = lab.command("scontrol", "update", f"jobid={job}", f"admincomment={text}")
        assert result.returncode == 0, result
        stays(lab, peer, job, "rooted", text, since)
    native = lab.command(
        "sbatch", "--parsable", "-p", "native", "-D", "/", "-o", "/dev/null", "--wrap", "true"
    ).stdout.strip()
    note = "was slurm-kube {ticket 7}"
    assert (
        lab.command("scontrol", "update", f"jobid={native}", f"admincomment={note}").returncode == 0
    )
    assert comment_of(lab, native).startswith(note), comment_of(lab, native)
    lab.command("scancel", native)
    lab.complete(job)


def scancel_writes_over_a_marker_and_the_job_stays_known(lab, peer):
    """Slurm asks no plugin then (_foreach_signal_job() in job_mgr.c), and the job may end in the
    same moment.
    """
    if "--admin-comment" not in lab.command("scancel", "--help").stdout:
        raise Skip("this scancel has no --admin-comment")
    since = len(peer.lines)
    jobs = {uid: lab.submit(marker(uid)).job for uid in ("signalled", "scancelled")}

    def scancel(uid, *words):
        result = lab.command("scancel", *words, str(jobs[uid]))
        assert result.returncode == 0, result

    scancel("signalled", "-s", "USR1", "--admin-comment=by ops")
    stays(lab, peer, jobs["signalled"], "signalled", "by ops", since)
    scancel("scancelled", "--admin-comment=enough")
    line = peer.wait("job", id=jobs["scancelled"], state="cancelled", completing=False)
    assert line and line[1]["marker"]["uid"] == "scancelled", peer.last(
        "job", id=jobs["scancelled"]
    )
    again = lab.submit(marker("scancelled"))
    assert again.ok, f"an ended job stands in the way: {vars(again)}"
    lab.complete(again.job)
    before = len(peer.lines)
    a_restart_forgets_nobody(lab, peer, {"signalled": jobs["signalled"]})
    told = peer.snapshot(before).get(
        jobs["scancelled"]
    )  # unless Slurm has forgotten it (MinJobAge)
    assert not told or told["marker"]["uid"] == "scancelled", told
    lab.complete(jobs["signalled"])


def a_prolog_that_writes_admin_comment_loses_no_job(lab, peer):
    script = f"{lab.run}/prolog"
    with open(script, "w", encoding="utf-8") as f:
        f.write(
            f"#!/bin/sh\nSLURM_CONF={lab.run}/slurm.conf PATH={lab.env['PATH']} scontrol update"
            " jobid=$SLURM_JOB_ID admincomment=by-prolog\n"
        )
    os.chmod(script, 0o755)
    restart(lab, extra=f"PrologSlurmctld={script}")
    since = len(peer.lines)
    job = lab.submit(marker("prologed")).job
    stays(lab, peer, job, "prologed", "by-prolog", since)
    a_restart_forgets_nobody(lab, peer, {"prologed": job})
    stays(lab, peer, job, "prologed", "by-prolog", since)
    lab.complete(job)
    use_kube_alone(lab)


def a_script_that_writes_admin_comment_loses_no_job(lab, peer):
    """Before the plugin and after it; in job_modify too."""
    jobs = {}
    for order in ("lua,kube", "kube,lua"):
        use_lua(
            lab,
            order,
            submit='if job.name == "pod" then job.admin_comment = "by-lua" end',
            modify='change.admin_comment = "by-modify"',
        )
        since, uid = len(peer.lines), "lua-" + order.replace(",", "-")
        jobs[uid] = lab.submit(marker(uid)).job
        stays(lab, peer, jobs[uid], uid, "by-lua", since)
        assert lab.command("scontrol", "update", f"jobid={jobs[uid]}", "comment=x").returncode == 0
        stays(lab, peer, jobs[uid], uid, "by-modify", since)
        a_restart_forgets_nobody(lab, peer, jobs)
    hello = peer.last("hello")[1]
    assert "kube must be the last" in hello["config_error"], hello
    for job in jobs.values():
        lab.complete(job)
    use_kube_alone(lab)
    assert eventually(lambda: not peer.last("hello")[1].get("config_error")), peer.last("hello")


def a_script_that_writes_admin_comment_stops_no_change_of_the_owner(lab, peer):
    """Slurm lets no owner write admin_comment, whoever has put it into his change."""
    use_lua(lab, "lua,kube", modify='change.admin_comment = "by-modify"')
    since = len(peer.lines)
    job = lab.submit(marker("owners", user=NOBODY, group=NOBODY), minutes=50).job
    for words in ("timelimit=40", "nice=10", "comment=x"):
        result = lab.command("scontrol", "update", f"jobid={job}", words, user=NOBODY)
        assert result.returncode == 0, (words, result)
    assert peer.wait("job", id=job, time_limit=40), peer.last("job", id=job)
    result = lab.command("scontrol", "update", f"jobid={job}", "admincomment=mine", user=NOBODY)
    assert result.returncode != 0 and "mine" not in comment_of(lab, job), comment_of(lab, job)
    assert lab.command("scontrol", "update", f"jobid={job}", "comment=y").returncode == 0
    stays(lab, peer, job, "owners", "by-modify", since)
    lab.complete(job)
    use_kube_alone(lab)


def a_script_moves_no_pods_job_to_native_nodes(lab, peer):
    use_lua(lab, "lua,kube", submit='job.partition = "native"')
    answer = lab.submit(marker("moved"))
    assert (
        not answer.ok
        and "partition native has nodes that are no Kubernetes nodes" in answer.messages
    ), vars(answer)
    use_kube_alone(lab)
    job = lab.submit(marker("moved")).job
    assert lab.command("scontrol", "update", f"jobid={job}", "partition=native").returncode != 0
    lab.complete(job)


def all_partitions_gives_native_jobs_no_partition_for_pods(lab, peer):
    for order in ("all_partitions,kube", "kube,all_partitions"):
        restart(lab, submit=f"JobSubmitPlugins={order}")
        result = lab.command(
            "sbatch",
            "--parsable",
            "--hold",
            "-D",
            "/",
            "-o",
            "/dev/null",
            "--wrap",
            "true",
            user=NOBODY,
        )
        assert result.returncode == 0, (order, result)
        partitions = lab.job(result.stdout.strip())["Partition"].split(",")
        assert sorted(partitions) == ["mixed", "native"], (order, partitions)
        lab.command("scancel", result.stdout.strip())
        answer = lab.submit(marker(order))
        assert answer.ok, vars(answer)
        lab.complete(answer.job)
    use_kube_alone(lab)


def no_way_around_leads_into_partitions_for_pods(lab, peer):
    def submit(*words):
        return lab.command(
            "sbatch", "--hold", "-D", "/", "-o", "/dev/null", *words, "--wrap", "true", user=NOBODY
        )

    made = lab.command(
        "scontrol",
        "create",
        "reservation",
        "reservationname=pods",
        "partitionname=kube",
        "nodes=k1",
        "users=root",
        "starttime=now",
        "duration=10",
    )
    assert made.returncode == 0, made
    result = submit("--reservation=pods")
    assert result.returncode != 0 and "takes Kubernetes pods only" in result.stderr, result
    lab.command("scontrol", "delete", "reservationname=pods")
    lab.command("scontrol", "update", "partitionname=native", "state=DRAIN", "alternate=kube")
    for words in ((), ("-p", "native"), ("-p", "mixed,native")):
        result = submit(*words)
        assert result.returncode != 0 and "takes Kubernetes pods only" in result.stderr, (
            words,
            result,
        )
    lab.command("scontrol", "update", "partitionname=native", "state=UP", "alternate=")
    result = submit()
    assert result.returncode == 0, result
    lab.command("scancel", "--user=nobody")


def reserve(lab, name, *words):
    result = lab.command(
        "scontrol",
        "create",
        "reservation",
        f"reservationname={name}",
        "users=nobody",
        "starttime=now",
        "duration=10",
        "flags=magnetic,ignore_jobs",
        *words,
    )
    assert result.returncode == 0, result


def a_magnetic_reservation_pulls_nobody_into_the_others_partition(lab, peer):
    """Slurm takes jobs into such a reservation unasked, but on nodes of their own partition only
    (_queue_magnetic_resv() and _build_node_list()).
    """
    reserve(lab, "pull-pods", "partitionname=native", "nodes=n1")
    reserve(lab, "pull-native", "partitionname=kube", "nodes=k1,k2")
    job = lab.submit(marker("pulled", user=NOBODY, group=NOBODY)).job
    told = peer.wait("job", id=job, state="running")
    assert told and told[1]["nodes"][0]["name"] in lab.external_nodes(), (
        told,
        peer.last("job", id=job),
    )
    native = lab.command(
        "sbatch",
        "--parsable",
        "-p",
        "native",
        "-D",
        "/",
        "-o",
        "/dev/null",
        "--wrap",
        "true",
        user=NOBODY,
    ).stdout.strip()
    lab.command("scontrol", "update", f"jobid={native}", "reservationname=pull-native")
    until = time.monotonic() + 4  # Slurm's own pass comes every 3 s at the latest
    while time.monotonic() < until:
        state = lab.job(native)
        assert state["JobState"] == "PENDING" and state["Partition"] == "native", state
        lab.command("scontrol", "update", f"jobid={native}", "comment=x")
        time.sleep(0.3)
    lab.command("scancel", native)
    lab.complete(job)
    for name in ("pull-pods", "pull-native"):
        lab.command("scontrol", "delete", f"reservationname={name}")


MULTIFACTOR = """PriorityType=priority/multifactor
PriorityWeightAge=1000000
PriorityMaxAge=10-0
"""


def the_age_of_a_job_that_was_given_back_is_kept(lab, peer):
    """In the proportion of priority/multifactor, over a restart, and beside a factor that the
    site's script gives.
    """
    del peer
    factor = "\tjob.site_factor = 1000" if lab.has_plugin("job_submit_lua.so") else ""
    now, day = int(time.time()), 86400
    jobs = {}
    try:
        restart(lab, extra=MULTIFACTOR)
        holder = lab.submit(marker("age-holder"), node="k2", cpus=4).job
        for name, since in (
            ("new", 0),
            ("half", now - 5 * day),
            ("oldest", now - 20 * day),
            ("future", now + day),
        ):
            mark = marker(f"age-{name}", attempt=2, since=since)
            jobs[name] = lab.submit(mark, node="k2", cpus=4).job
        if factor:
            use_lua(lab, "lua,kube", submit=factor)
            mark = marker("age-lua", attempt=2, since=now - 5 * day)
            jobs["lua"] = lab.submit(mark, node="k2", cpus=4).job
        restart(lab)
        priority = {name: int(lab.job(job)["Priority"]) for name, job in jobs.items()}
        assert abs(priority["half"] - priority["new"] - 500000) < 500, priority
        assert abs(priority["oldest"] - priority["new"] - 1000000) < 500, priority
        assert abs(priority["future"] - priority["new"]) < 500, priority
        assert not factor or abs(priority["lua"] - priority["half"] - 1000) < 500, priority
        negative = lab.submit(marker("age-negative", since=-1))
        assert not negative.ok and "'since' is negative" in negative.messages, vars(negative)
        for job in (*jobs.values(), holder):
            lab.command("scancel", str(job))
    finally:
        use_kube_alone(lab)


TESTS = [
    what_root_writes_over_a_marker_stays_beside_it,
    scancel_writes_over_a_marker_and_the_job_stays_known,
    a_prolog_that_writes_admin_comment_loses_no_job,
    a_script_that_writes_admin_comment_loses_no_job,
    a_script_that_writes_admin_comment_stops_no_change_of_the_owner,
    a_script_moves_no_pods_job_to_native_nodes,
    what_a_script_tells_the_user_is_in_the_submitters_log,
    a_prolog_is_told_from_its_start_to_its_end,
    all_partitions_gives_native_jobs_no_partition_for_pods,
    no_way_around_leads_into_partitions_for_pods,
    a_magnetic_reservation_pulls_nobody_into_the_others_partition,
    the_age_of_a_job_that_was_given_back_is_kept,
]
