#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Only the plugin's seam_private.h uses slurmctld's internal variables and functions; other files
call its wrappers.

usage: private.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory
"""
import os
import re
import sys

FOLDER = "src/plugins/job_submit/kube"
HEADER = "seam_private.h"
SYMBOLS = """
active_node_record_count booting_node_bitmap cloud_node_bitmap control_time default_part_name
drain_nodes fed_mgr_fed_rec find_job_record find_node_record find_part_record find_resv_name
gres_g_node_config_load gres_node_config_validate job_epilog_complete job_list last_job_update
last_node_update lock_slurmctld node_did_resp node_record_count node_record_table_ptr part_list
power_down_node_bitmap power_node_bitmap prolog_complete schedule schedule_job_save
schedule_node_save set_node_down share_node_bitmap
slurmctld_config slurmctld_diag_stats unlock_slurmctld validate_super_user
""".split()
# A member of one of our structures may have such a name. The second part finds functions of Slurm
# that have no wrapper yet, by the pattern of their names.
USE = re.compile(
    r"(?<![\w.>])(" + "|".join(SYMBOLS) + r"|update_(?:job|node|part|resv)\w*|extern\s+\w+)\b"
)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def code_of(path):
    """The lines without comments and string literals, which may mention such names."""
    text = open(path, encoding="utf-8").read()
    return COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text).split("\n")


def main():
    os.chdir(
        os.path.join(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."), FOLDER)
    )
    seen = faults = 0
    for file in sorted(os.listdir(".")):
        if not file.endswith(".c") and file != "seam.h":
            continue
        seen += 1
        for number, line in enumerate(code_of(file), 1):
            if match := USE.search(line):
                faults += 1
                print(
                    f"{FOLDER}/{file}:{number}: {match.group(1)}: give it a wrapper in {HEADER}, or"
                    " call that"
                )
    print(f"{seen} files, {faults} forbidden")
    return 1 if faults or not seen else 0


sys.exit(main())
