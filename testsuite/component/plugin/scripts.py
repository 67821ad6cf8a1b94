# SPDX-License-Identifier: GPL-2.0-or-later
"""A site's scripts, other plugins and root change jobs of pods. The plugin still knows these jobs,
each pod has only one, and they stay on Kubernetes nodes.
"""
import os
import signal
import time

from fixture import Skip, eventually, marker

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


def restart(fixture, how=signal.SIGTERM, **conf):
    if conf:
        fixture.write_conf(**conf)
    fixture.kill_slurmctld(how)
    fixture.start_slurmctld()


def use_lua(fixture, order, submit="", modify=""):
    if not fixture.has_plugin("job_submit_lua.so"):
        raise Skip("this Slurm was built without Lua")
    with open(f"{fixture.run}/job_submit.lua", "w", encoding="utf-8") as f:
        f.write(LUA.format(submit=submit, modify=modify))
    restart(fixture, submit=f"JobSubmitPlugins={order}")


def use_kube_alone(fixture):
    restart(fixture, submit="JobSubmitPlugins=kube", extra="")


def what_a_script_tells_the_user_is_in_the_submitters_log(fixture, peer):
    """libslurm writes the message to the submitter's log; no function returns it."""
    del peer
    use_lua(
        fixture,
        "lua,kube",
        submit='\tslurm.log_user("no project, no pod")\n\tif true then return slurm.ERROR end',
    )
    try:
        answer = fixture.submit(marker("lua-says-no"))
        assert not answer.ok and "error: no project, no pod" in answer.messages, vars(answer)
    finally:
        use_kube_alone(fixture)


PROLOG = """#!/bin/sh
echo "$SLURM_JOB_ID" >> {run}/prolog.began
until [ -e {run}/prolog.goes_on ]; do sleep 0.05; done
exit "$(cat {run}/prolog.goes_on)"
"""


def use_prolog(fixture, peer):
    path = f"{fixture.run}/prolog"
    with open(path, "w", encoding="utf-8") as f:
        f.write(PROLOG.format(run=fixture.run))
    os.chmod(path, 0o755)
    since = len(peer.lines)
    restart(fixture, extra=f"PrologSlurmctld={path}")
    assert peer.wait("hello", after=since, prolog=True), peer.last("hello")


def let_prolog_end(fixture, status):
    with open(f"{fixture.run}/prolog.goes_on.new", "w", encoding="utf-8") as f:
        f.write(str(status))
    os.rename(f"{fixture.run}/prolog.goes_on.new", f"{fixture.run}/prolog.goes_on")


def a_prolog_is_told_from_its_start_to_its_end(fixture, peer):
    """With PrologSlurmctld the job has its node and is configuring until the script ends. A failing
    script ends the job.
    """
    assert peer.last("hello")[1]["prolog"] is False, peer.last("hello")
    use_prolog(fixture, peer)
    try:
        for uid, status in (("prolog-well", 0), ("prolog-fails", 1)):
            since = len(peer.lines)
            job = fixture.submit(marker(uid)).job
            assert peer.wait(
                "job", after=since, id=job, state="running", configuring=True
            ), peer.last("job", id=job)
            assert eventually(
                lambda: os.path.exists(f"{fixture.run}/prolog.began")
            ), "the script does not run"
            time.sleep(0.3)
            assert not peer.find(
                "job", after=since, id=job, configuring=False, state="running"
            ), "told too early"
            let_prolog_end(fixture, status)
            if status == 0:
                line = peer.wait("job", after=since, id=job, state="running", configuring=False)
                assert line and line[1]["nodes"], peer.last("job", id=job)
                assert fixture.complete(job).ok
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
                os.unlink(f"{fixture.run}/{name}")
    finally:
        use_kube_alone(fixture)


def comment_of(fixture, job):
    text = fixture.command("scontrol", "show", "job", str(job), "--oneliner").stdout
    return (
        text.partition("AdminComment=")[2].partition(" SystemComment=")[0].partition(" StdErr=")[0]
    )


def is_whole(fixture, job, uid, note):
    comment = comment_of(fixture, job)
    return f'"uid":"{uid}"' in comment and f'"note":"{note}"' in comment


def stays(fixture, peer, job, uid, note, since):
    """The job has its marker and the site's text, the peer was not told that the job is gone, and
    no second job is accepted.
    """
    assert eventually(lambda: is_whole(fixture, job, uid, note)), comment_of(fixture, job)
    again = fixture.submit(marker(uid))
    assert not again.ok and again.error == DUPLICATE, vars(again)
    assert not peer.find("job_gone", after=since, id=job), peer.last("job_gone", id=job)


def a_restart_forgets_nobody(fixture, peer, jobs):
    assert eventually(lambda: all(fixture.saved(f'"uid":"{uid}"') for uid in jobs)), "never saved"
    before = len(peer.lines)
    restart(fixture, signal.SIGKILL)
    shown = eventually(lambda: peer.snapshot(before))
    for uid, job in jobs.items():
        assert shown and shown.get(job, {}).get("marker", {}).get("uid") == uid, (uid, job, shown)


def what_root_writes_over_a_marker_stays_beside_it(fixture, peer):
    since = len(peer.lines)
    job = fixture.submit(marker("rooted")).job
    for text in ("drained by ops", "second"):
        result = fixture.command("scontrol", "update", f"jobid={job}", f"admincomment={text}")
        assert result.returncode == 0, result
        stays(fixture, peer, job, "rooted", text, since)
    native = fixture.command(
        "sbatch", "--parsable", "-p", "native", "-D", "/", "-o", "/dev/null", "--wrap", "true"
    ).stdout.strip()
    note = "was slurm-kube {ticket 7}"
    assert (
        fixture.command("scontrol", "update", f"jobid={native}", f"admincomment={note}").returncode
        == 0
    )
    assert comment_of(fixture, native).startswith(note), comment_of(fixture, native)
    fixture.command("scancel", native)
    fixture.complete(job)


def scancel_writes_over_a_marker_and_the_job_stays_known(fixture, peer):
    """Slurm calls no plugin in this case (_foreach_signal_job() in job_mgr.c), and the job may end
    at the same moment.
    """
    if "--admin-comment" not in fixture.command("scancel", "--help").stdout:
        raise Skip("this scancel has no --admin-comment")
    since = len(peer.lines)
    jobs = {uid: fixture.submit(marker(uid)).job for uid in ("signalled", "scancelled")}

    def scancel(uid, *words):
        result = fixture.command("scancel", *words, str(jobs[uid]))
        assert result.returncode == 0, result

    scancel("signalled", "-s", "USR1", "--admin-comment=by ops")
    stays(fixture, peer, jobs["signalled"], "signalled", "by ops", since)
    scancel("scancelled", "--admin-comment=enough")
    line = peer.wait("job", id=jobs["scancelled"], state="cancelled", completing=False)
    assert line and line[1]["marker"]["uid"] == "scancelled", peer.last(
        "job", id=jobs["scancelled"]
    )
    again = fixture.submit(marker("scancelled"))
    assert again.ok, f"an ended job stands in the way: {vars(again)}"
    fixture.complete(again.job)
    before = len(peer.lines)
    a_restart_forgets_nobody(fixture, peer, {"signalled": jobs["signalled"]})
    told = peer.snapshot(before).get(
        jobs["scancelled"]
    )  # unless Slurm has purged the job (MinJobAge)
    assert not told or told["marker"]["uid"] == "scancelled", told
    fixture.complete(jobs["signalled"])


def a_prolog_that_writes_admin_comment_loses_no_job(fixture, peer):
    script = f"{fixture.run}/prolog"
    with open(script, "w", encoding="utf-8") as f:
        f.write(
            f"#!/bin/sh\nSLURM_CONF={fixture.run}/slurm.conf PATH={fixture.env['PATH']} scontrol"
            " update jobid=$SLURM_JOB_ID admincomment=by-prolog\n"
        )
    os.chmod(script, 0o755)
    restart(fixture, extra=f"PrologSlurmctld={script}")
    since = len(peer.lines)
    job = fixture.submit(marker("prologed")).job
    stays(fixture, peer, job, "prologed", "by-prolog", since)
    a_restart_forgets_nobody(fixture, peer, {"prologed": job})
    stays(fixture, peer, job, "prologed", "by-prolog", since)
    fixture.complete(job)
    use_kube_alone(fixture)


def a_script_that_writes_admin_comment_loses_no_job(fixture, peer):
    """The script runs before the plugin and after it, also in job_modify."""
    jobs = {}
    for order in ("lua,kube", "kube,lua"):
        use_lua(
            fixture,
            order,
            submit='if job.name == "pod" then job.admin_comment = "by-lua" end',
            modify='change.admin_comment = "by-modify"',
        )
        since, uid = len(peer.lines), "lua-" + order.replace(",", "-")
        jobs[uid] = fixture.submit(marker(uid)).job
        stays(fixture, peer, jobs[uid], uid, "by-lua", since)
        assert (
            fixture.command("scontrol", "update", f"jobid={jobs[uid]}", "comment=x").returncode == 0
        )
        stays(fixture, peer, jobs[uid], uid, "by-modify", since)
        a_restart_forgets_nobody(fixture, peer, jobs)
    hello = peer.last("hello")[1]
    assert "kube must be the last" in hello["config_error"], hello
    for job in jobs.values():
        fixture.complete(job)
    use_kube_alone(fixture)
    assert eventually(lambda: not peer.last("hello")[1].get("config_error")), peer.last("hello")


def a_script_that_writes_admin_comment_stops_no_change_of_the_owner(fixture, peer):
    """Slurm refuses a job owner's change that contains admin_comment, even if a script added that
    field.
    """
    use_lua(fixture, "lua,kube", modify='change.admin_comment = "by-modify"')
    since = len(peer.lines)
    job = fixture.submit(marker("owners", user=NOBODY, group=NOBODY), minutes=50).job
    for words in ("timelimit=40", "nice=10", "comment=x"):
        result = fixture.command("scontrol", "update", f"jobid={job}", words, user=NOBODY)
        assert result.returncode == 0, (words, result)
    assert peer.wait("job", id=job, time_limit=40), peer.last("job", id=job)
    result = fixture.command("scontrol", "update", f"jobid={job}", "admincomment=mine", user=NOBODY)
    assert result.returncode != 0 and "mine" not in comment_of(fixture, job), comment_of(
        fixture, job
    )
    assert fixture.command("scontrol", "update", f"jobid={job}", "comment=y").returncode == 0
    stays(fixture, peer, job, "owners", "by-modify", since)
    fixture.complete(job)
    use_kube_alone(fixture)


def a_script_moves_no_pods_job_to_native_nodes(fixture, peer):
    use_lua(fixture, "lua,kube", submit='job.partition = "native"')
    answer = fixture.submit(marker("moved"))
    assert (
        not answer.ok
        and "partition native has nodes that are no Kubernetes nodes" in answer.messages
    ), vars(answer)
    use_kube_alone(fixture)
    job = fixture.submit(marker("moved")).job
    assert fixture.command("scontrol", "update", f"jobid={job}", "partition=native").returncode != 0
    fixture.complete(job)


def all_partitions_gives_native_jobs_no_partition_for_pods(fixture, peer):
    for order in ("all_partitions,kube", "kube,all_partitions"):
        restart(fixture, submit=f"JobSubmitPlugins={order}")
        result = fixture.command(
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
        partitions = fixture.job(result.stdout.strip())["Partition"].split(",")
        assert sorted(partitions) == ["mixed", "native"], (order, partitions)
        fixture.command("scancel", result.stdout.strip())
        answer = fixture.submit(marker(order))
        assert answer.ok, vars(answer)
        fixture.complete(answer.job)
    use_kube_alone(fixture)


def no_way_around_leads_into_partitions_for_pods(fixture, peer):
    def submit(*words):
        return fixture.command(
            "sbatch", "--hold", "-D", "/", "-o", "/dev/null", *words, "--wrap", "true", user=NOBODY
        )

    made = fixture.command(
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
    fixture.command("scontrol", "delete", "reservationname=pods")
    fixture.command("scontrol", "update", "partitionname=native", "state=DRAIN", "alternate=kube")
    for words in ((), ("-p", "native"), ("-p", "mixed,native")):
        result = submit(*words)
        assert result.returncode != 0 and "takes Kubernetes pods only" in result.stderr, (
            words,
            result,
        )
    fixture.command("scontrol", "update", "partitionname=native", "state=UP", "alternate=")
    result = submit()
    assert result.returncode == 0, result
    fixture.command("scancel", "--user=nobody")


def reserve(fixture, name, *words):
    result = fixture.command(
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


def a_magnetic_reservation_pulls_nobody_into_the_others_partition(fixture, peer):
    """Slurm places jobs into such a reservation unasked, but only on nodes of their own partition
    (_queue_magnetic_resv() and _build_node_list()).
    """
    reserve(fixture, "pull-pods", "partitionname=native", "nodes=n1")
    reserve(fixture, "pull-native", "partitionname=kube", "nodes=k1,k2")
    job = fixture.submit(marker("pulled", user=NOBODY, group=NOBODY)).job
    told = peer.wait("job", id=job, state="running")
    assert told and told[1]["nodes"][0]["name"] in fixture.external_nodes(), (
        told,
        peer.last("job", id=job),
    )
    native = fixture.command(
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
    fixture.command("scontrol", "update", f"jobid={native}", "reservationname=pull-native")
    until = time.monotonic() + 4  # Slurm's own pass comes at least every 3 s
    while time.monotonic() < until:
        state = fixture.job(native)
        assert state["JobState"] == "PENDING" and state["Partition"] == "native", state
        fixture.command("scontrol", "update", f"jobid={native}", "comment=x")
        time.sleep(0.3)
    fixture.command("scancel", native)
    fixture.complete(job)
    for name in ("pull-pods", "pull-native"):
        fixture.command("scontrol", "delete", f"reservationname={name}")


MULTIFACTOR = """PriorityType=priority/multifactor
PriorityWeightAge=1000000
PriorityMaxAge=10-0
"""


def the_age_of_a_job_that_was_given_back_is_kept(fixture, peer):
    """The age counts according to priority/multifactor, even after a restart, and is added to a
    factor that the site's script sets.
    """
    del peer
    factor = "\tjob.site_factor = 1000" if fixture.has_plugin("job_submit_lua.so") else ""
    now, day = int(time.time()), 86400
    jobs = {}
    try:
        restart(fixture, extra=MULTIFACTOR)
        holder = fixture.submit(marker("age-holder"), node="k2", cpus=4).job
        for name, since in (
            ("new", 0),
            ("half", now - 5 * day),
            ("oldest", now - 20 * day),
            ("future", now + day),
        ):
            mark = marker(f"age-{name}", attempt=2, since=since)
            jobs[name] = fixture.submit(mark, node="k2", cpus=4).job
        if factor:
            use_lua(fixture, "lua,kube", submit=factor)
            mark = marker("age-lua", attempt=2, since=now - 5 * day)
            jobs["lua"] = fixture.submit(mark, node="k2", cpus=4).job
        restart(fixture)
        priority = {name: int(fixture.job(job)["Priority"]) for name, job in jobs.items()}
        assert abs(priority["half"] - priority["new"] - 500000) < 500, priority
        assert abs(priority["oldest"] - priority["new"] - 1000000) < 500, priority
        assert abs(priority["future"] - priority["new"]) < 500, priority
        assert not factor or abs(priority["lua"] - priority["half"] - 1000) < 500, priority
        negative = fixture.submit(marker("age-negative", since=-1))
        assert not negative.ok and "'since' is negative" in negative.messages, vars(negative)
        for job in (*jobs.values(), holder):
            fixture.command("scancel", str(job))
    finally:
        use_kube_alone(fixture)


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
