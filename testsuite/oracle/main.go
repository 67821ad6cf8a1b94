// SPDX-License-Identifier: GPL-2.0-or-later
//
// The results of kube-scheduler's own filter plugins. Each line on stdin is a case, a JSON object with "pod", "nodes", "pods" (the bound ones), "namespaces" and, as needed,
// "claims", "volumes" and storage "classes". For each case one line on stdout: {"node": ["Plugin: reason", ...], ...}, with an empty list for a node that may take the pod. Only those plugins
// of the default profile run whose rules src/core/placement/placement.h implements, with default feature gates.
//
// "oracle cel": the verdicts of Kubernetes' own CEL on devices. Each line on stdin has "selector",
// "driver" and "device" (a device of a ResourceSlice); the answers are in cel.go.
//
// "oracle devices": kube-scheduler's own allocation of devices, and whether it permits ours. Cases
// and answers are in devices.go.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
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
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

type testCase struct {
	Pod        *v1.Pod
	Nodes      []*v1.Node
	Pods       []*v1.Pod
	Namespaces []*v1.Namespace
	Claims     []*v1.PersistentVolumeClaim
	Volumes    []*v1.PersistentVolume
	Classes    []*storage.StorageClass
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
	{podtopologyspread.New, &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}},
}

var ofVolumes = []struct {
	make factory
	args runtime.Object
}{
	{volumerestrictions.New, nil},
	{volumezone.New, nil},
	{volumebinding.New, &config.VolumeBindingArgs{BindTimeoutSeconds: 600,
		Shape: []config.UtilizationShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}}},
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
	for _, one := range c.Namespaces {
		_ = namespaces.Add(one)
	}
	return must(frameworkruntime.NewFramework(ctx, nil, nil,
		frameworkruntime.WithSnapshotSharedLister(cache.NewSnapshot(c.Pods, c.Nodes)), frameworkruntime.WithInformerFactory(informers)))
}

// One plugin's result for each node.
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

// The volume plugins read caches filled by informers. So informers run against a fake client that
// has only the objects of the case.
func storageHandle(ctx context.Context, c *testCase) framework.Framework {
	var objects []runtime.Object
	for _, one := range c.Claims {
		objects = append(objects, one)
	}
	for _, one := range c.Volumes {
		objects = append(objects, one)
	}
	for _, one := range c.Classes {
		objects = append(objects, one)
	}
	for _, one := range c.Nodes {
		objects = append(objects, one)
	}
	client := fake.NewSimpleClientset(objects...)
	return must(frameworkruntime.NewFramework(ctx, nil, nil, frameworkruntime.WithClientSet(client),
		frameworkruntime.WithSnapshotSharedLister(cache.NewSnapshot(c.Pods, c.Nodes)),
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(client, 0))))
}

func judgeVolumes(ctx context.Context, c *testCase, features feature.Features, out map[string][]string) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	h := storageHandle(ctx, c)
	nodes := must(h.SnapshotSharedLister().NodeInfos().List())
	var plugins []fwk.Plugin
	for _, f := range ofVolumes {
		plugins = append(plugins, must(f.make(ctx, f.args, h, features)))
	}
	h.SharedInformerFactory().Start(ctx.Done())
	h.SharedInformerFactory().WaitForCacheSync(ctx.Done())
	for _, plugin := range plugins {
		judge(ctx, plugin, c, nodes, out)
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
	if len(c.Pod.Spec.Volumes) > 0 {
		judgeVolumes(ctx, c, features, out)
	}
	return out
}

func filterVerdicts(ctx context.Context, line []byte) any {
	var c testCase
	must(0, json.Unmarshal(line, &c))
	return verdicts(ctx, &c, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
}

func main() {
	ctx := context.Background()
	metrics.Register()
	judge := filterVerdicts
	switch {
	case len(os.Args) > 1 && os.Args[1] == "cel":
		judge = celVerdict
	case len(os.Args) > 1 && os.Args[1] == "devices":
		judge = deviceVerdicts
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		must(0, answers.Encode(judge(ctx, lines.Bytes())))
	}
	must(0, lines.Err())
}
