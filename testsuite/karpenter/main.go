// SPDX-License-Identifier: GPL-2.0-or-later
//
// The verdicts of Karpenter's own functions. Each line on stdin is a Pod, as the API server has it.
// For each pod one line on stdout: {"provisionable": ..., ...}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	podutil "sigs.k8s.io/karpenter/pkg/utils/pod"
)

type verdicts struct {
	// The provisioner adds a node for the pod.
	Provisionable bool `json:"provisionable"`
	// Consolidation and drift may take the node away from the pod. One pod that is not
	// disruptable keeps its node.
	Disruptable bool `json:"disruptable"`
	// The drain of a node evicts the pod.
	Evictable bool `json:"evictable"`
	// The drain of a node waits for the end of the pod.
	Awaited bool `json:"awaited"`
	// Karpenter looks for another place for the pod if its node goes.
	Reschedulable bool `json:"reschedulable"`
}

func judge(pod *v1.Pod) verdicts {
	now := clock.RealClock{}
	return verdicts{
		Provisionable: podutil.IsProvisionable(pod),
		Disruptable:   podutil.IsDisruptable(pod, now, nil),
		Evictable:     podutil.IsEvictable(pod, now, nil),
		Awaited:       podutil.IsWaitingEviction(pod, now),
		Reschedulable: podutil.IsReschedulable(pod),
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "karpenter:", err)
		os.Exit(1)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var pod v1.Pod
		check(json.Unmarshal(lines.Bytes(), &pod))
		check(answers.Encode(judge(&pod)))
	}
	check(lines.Err())
}
