# SPDX-License-Identifier: GPL-2.0-or-later
"""A private slurmdbd on a private MariaDB, for what an administrator sees with sacct.

mariadbd has its data and its only socket in a directory of the run directory that no other user may
enter; it has no network and no passwords. slurmdbd runs where Slurm does (a chroot sees the same
socket) and listens on one loopback port.
"""
import socket
import subprocess
from pathlib import Path

from .process import TESTSUITE, Process, output_of
from .waiting import wait_for

SYSTEM_TABLES = Path("/usr/share/mysql/mysql_system_tables.sql")

SLURMDBD_CONF = """\
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
AuthType=auth/munge
AuthInfo=socket={dir}/munge.sock
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct
PidFile={dir}/slurmdbd.pid
DebugLevel=info
PluginDir={plugin_dir}
"""


class Accounting:
    """The database of one Slurm object. enforce: AccountingStorageEnforce, empty for none."""

    def __init__(self, slurm, port, enforce=""):
        self.setup = []  # more calls of sacctmgr, before slurmctld starts: lists of words
        self.slurm, self.port, self.enforce, self.dir = slurm, port, enforce, slurm.dir / "db"
        options = [
            "--no-defaults",
            "--user=root",
            f"--datadir={self.dir}/data",
            "--skip-networking",
            "--skip-grant-tables",
            "--skip-log-bin",
            "--performance-schema=off",
            "--innodb-buffer-pool-size=64M",
            "--innodb-log-file-size=32M",
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-flush-method=nosync",
            # at its start it removes temporary tables, also those of others
            f"--tmpdir={self.dir}",
        ]
        self.bootstrap = ["/usr/sbin/mariadbd", *options, "--bootstrap"]
        self.socket = self.dir / "db.sock"
        self.mariadbd = Process(
            "mariadbd",
            [
                "/usr/sbin/mariadbd",
                *options,
                f"--socket={self.socket}",
                f"--pid-file={self.dir}/mariadbd.pid",
            ],
            slurm.dir / "log/mariadbd.out",
        )
        # libmariadb takes the socket of StorageHost=localhost from its environment.
        self.slurmdbd = Process(
            "slurmdbd",
            slurm.program(f"{slurm.sbin}slurmdbd", "-D"),
            slurm.dir / "log/slurmdbd.out",
            {"MYSQL_UNIX_PORT": str(self.socket)},
            slurm.dir / "slurmdbd.pid",
        )

    def conf_lines(self):
        """For slurm.conf."""
        # AccountingStoragePass is munge's socket here; without it Slurm uses the system's socket.
        lines = [
            f"AccountingStoragePass={self.slurm.dir}/munge.sock",
            "AccountingStorageType=accounting_storage/slurmdbd",
            "AccountingStorageHost=127.0.0.1",
            f"AccountingStoragePort={self.port}",
            "AccountingStoreFlags=job_comment",
            "JobAcctGatherFrequency=0",
        ]
        return lines + ([f"AccountingStorageEnforce={self.enforce}"] if self.enforce else [])

    def start(self):
        """Starts the database and slurmdbd; munged must run. Afterwards slurmdbd knows the cluster
        and, for limits, the account "kube" with the user nobody.
        """
        output_of(
            "bash",
            "-c",
            f". {TESTSUITE}/common.sh && need_packages mariadb-server-core slurmdbd",
            timeout=300,
        )
        self._make_tables()
        self.start_mariadbd()
        self._write_conf()
        self.start_slurmdbd()
        self.sacctmgr("add", "cluster", "test")
        self.sacctmgr("add", "account", "kube")
        self.sacctmgr("add", "user", "nobody", "account=kube")
        for words in self.setup:
            self.sacctmgr(*words)

    def _make_tables(self):
        """Creates only MariaDB's own tables; mariadb-install-db would need more packages and more
        time.
        """
        self.dir.mkdir(mode=0o700)
        (self.dir / "data").mkdir()
        script = "create database mysql;\nuse mysql;\n" + SYSTEM_TABLES.read_text()
        done = subprocess.run(
            self.bootstrap, input=script, text=True, capture_output=True, timeout=120, check=False
        )
        assert done.returncode == 0, f"mariadbd --bootstrap: {done.stderr[-1500:]}"

    def _write_conf(self):
        conf = self.slurm.dir / "slurmdbd.conf"
        conf.touch(mode=0o600)
        conf.write_text(
            SLURMDBD_CONF.format(
                dir=self.slurm.dir, port=self.port, plugin_dir=self.slurm.plugin_dirs[-1]
            )
        )

    def start_mariadbd(self):
        self.mariadbd.start()
        wait_for(lambda: self.mariadbd.check() and self.database_answers(), "mariadbd's socket")

    def database_answers(self):
        """True if a process accepts connections; a killed one leaves its socket behind."""
        with socket.socket(socket.AF_UNIX) as s:
            try:
                s.connect(str(self.socket))
                return True
            except OSError:
                return False

    def start_slurmdbd(self):
        self.slurmdbd.start()
        wait_for(
            lambda: self.slurmdbd.check()
            and self.slurm.run("sacctmgr", "-nP", "show", "cluster") is not None,
            "slurmdbd to answer",
        )

    def sacctmgr(self, *words):
        """Runs sacctmgr without questions; it is no failure if there is nothing to do."""
        return self.slurm.run("sacctmgr", "-i", *words)

    def sacct(self, *numbers):
        """{job id: {field: text}} of these jobs from the database; all jobs without numbers. State
        is reduced to its first word ("CANCELLED by 0").
        """
        return {int(row["JobID"]): row for row in self.rows(*numbers)}

    def rows(self, *numbers):
        """The same as a list: a number that was used again has several rows. Selecting by time,
        sacct omits jobs that were held or had a dependency until their end (time_eligible 0 in the
        database; setup_job_cond_limits in as_mysql_jobacct_process.c); by numbers it finds them.
        """
        fields = [
            "JobID",
            "Submit",
            "State",
            "ExitCode",
            "DerivedExitCode",
            "User",
            "Account",
            "NodeList",
            "Start",
            "End",
            "AdminComment",
            "JobName",
        ]
        chosen = ["-j", ",".join(map(str, numbers))] if numbers else ["-S", "2000-01-01"]
        text = self.slurm.run(
            "sacct", "-XnP", "--delimiter=\x1f", "-a", "-D", "-o", ",".join(fields), *chosen
        )
        rows = (dict(zip(fields, line.split("\x1f"))) for line in text.splitlines())
        return [
            {**row, "StateText": row["State"], "State": row["State"].split()[0]} for row in rows
        ]

    def stop(self):
        for daemon in (self.slurmdbd, self.mariadbd):
            daemon.stop()
