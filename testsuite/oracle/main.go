// SPDX-License-Identifier: GPL-2.0-or-later
//
// What kube-scheduler's own filters say: for each case on stdin (one JSON object a line: "pod", "nodes", and "pods" that are bound) one line
// on stdout, {"node": ["Plugin: reason", ...], ...} with an empty list for a node that may take the pod. Only plugins of the default profile
// whose rules src/core/placement.h has; default feature gates.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

type testCase struct {
	Pod   *v1.Pod
	Nodes []*v1.Node
	Pods  []*v1.Pod
}

type factory func(context.Context, runtime.Object, fwk.Handle, feature.Features) (fwk.Plugin, error)

var factories = []struct {
	make factory
	args runtime.Object
}{
	{nodename.New, nil},
	{nodeunschedulable.New, nil},
	{tainttoleration.New, nil},
	{nodeaffinity.New, &config.NodeAffinityArgs{}},
	{nodeports.New, nil},
	{noderesources.NewFit, &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{
		Type: config.LeastAllocated, Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}}}},
	{interpodaffinity.New, &config.InterPodAffinityArgs{HardPodAffinityWeight: 1}},
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
	return value
}

func handle(ctx context.Context, c *testCase) framework.Framework {
	informers := informers.NewSharedInformerFactory(nil, 0)
	namespaces := informers.Core().V1().Namespaces().Informer().GetIndexer()
	for _, pod := range append(c.Pods, c.Pod) {
		_ = namespaces.Add(&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace}})
	}
	return must(frameworkruntime.NewFramework(ctx, nil, nil,
		frameworkruntime.WithSnapshotSharedLister(cache.NewSnapshot(c.Pods, c.Nodes)), frameworkruntime.WithInformerFactory(informers)))
}

// One plugin's word on all nodes.
func judge(ctx context.Context, plugin fwk.Plugin, c *testCase, nodes []fwk.NodeInfo, out map[string][]string) {
	state := framework.NewCycleState()
	only := map[string]bool{}
	if before, ok := plugin.(fwk.PreFilterPlugin); ok {
		result, status := before.PreFilter(ctx, state, c.Pod, nodes)
		if status.IsSkip() {
			return
		}
		if !status.IsSuccess() {
			for _, node := range c.Nodes {
				out[node.Name] = append(out[node.Name], plugin.Name()+": "+status.Message())
			}
			return
		}
		if !result.AllNodes() {
			for name := range result.NodeNames {
				only[name] = true
			}
			for _, node := range c.Nodes {
				if !only[node.Name] {
					out[node.Name] = append(out[node.Name], plugin.Name()+": not among the named nodes")
				}
			}
		}
	}
	for _, info := range nodes {
		if status := plugin.(fwk.FilterPlugin).Filter(ctx, state, c.Pod, info); !status.IsSuccess() {
			name := info.Node().Name
			out[name] = append(out[name], plugin.Name()+": "+status.Message())
		}
	}
}

func verdicts(ctx context.Context, c *testCase, features feature.Features) map[string][]string {
	out := map[string][]string{}
	for _, node := range c.Nodes {
		out[node.Name] = []string{}
	}
	h := handle(ctx, c)
	nodes := must(h.SnapshotSharedLister().NodeInfos().List())
	for _, f := range factories {
		judge(ctx, must(f.make(ctx, f.args, h, features)), c, nodes, out)
	}
	return out
}

func main() {
	ctx := context.Background()
	metrics.Register()
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var c testCase
		must(0, json.Unmarshal(lines.Bytes(), &c))
		must(0, answers.Encode(verdicts(ctx, &c, features)))
	}
	must(0, lines.Err())
}
