// SPDX-License-Identifier: GPL-2.0-or-later
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	resource "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

// What "oracle devices" reads. Ours has, for each node, what we decided there.
type deviceCase struct {
	Slices  []*resource.ResourceSlice
	Later   []*resource.ResourceSlice // after Slurm's choice; none: the same
	Classes classLister
	Claims  []*resource.ResourceClaim
	Nodes   []string
	Taken   []deviceRef
	Ours    map[string]placement
}

type deviceRef struct{ Driver, Pool, Device string }

// Given: what Slurm gave to the job. Statuses: of the claims, in their order, as we would write
// them; none: we give the devices back.
type placement struct {
	Given    []deviceRef
	Statuses []resource.ResourceClaimStatus
}

// For one node. Texts say why not; empty: it can be done.
type deviceAnswer struct {
	Empty     string `json:"empty"`               // can the claims be allocated if nothing is taken?
	Now       string `json:"now"`                 // and if that is taken which is taken?
	Given     string `json:"given,omitempty"`     // and of what Slurm gave?
	Forbidden string `json:"forbidden,omitempty"` // is what we write permitted?
	Preferred string `json:"preferred,omitempty"` // alternatives that Kubernetes prefers to ours
}

// One search takes milliseconds; a few cases would take for ever.
const longestSearch = 2 * time.Second

type classLister []*resource.DeviceClass

func (l classLister) List() ([]*resource.DeviceClass, error) { return l, nil }

func (l classLister) Get(name string) (*resource.DeviceClass, error) {
	for _, one := range l {
		if one.Name == name {
			return one, nil
		}
	}
	return nil, fmt.Errorf("class %s does not exist", name)
}

var deviceFeatures = dynamicresources.AllocatorFeatures(
	feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))

var deviceSelectors = cel.NewCache(1024, cel.Features{
	EnableConsumableCapacity: deviceFeatures.ConsumableCapacity})

// What is asked of kube-scheduler's allocator.
type question struct {
	slices  []*resource.ResourceSlice
	classes classLister
	claims  []*resource.ResourceClaim
	node    string
	taken   sets.Set[structured.DeviceID]
}

func (q question) ask(ctx context.Context) ([]resource.AllocationResult, string) {
	ctx, stop := context.WithTimeout(ctx, longestSearch)
	defer stop()
	allocator := must(structured.NewAllocator(ctx, deviceFeatures,
		structured.AllocatedState{AllocatedDevices: q.taken}, q.classes, q.slices, deviceSelectors))
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: q.node}}
	results, err := allocator.Allocate(ctx, node, q.claims)
	if err != nil {
		return nil, err.Error()
	}
	if results == nil {
		return nil, "no devices"
	}
	return results, ""
}

func ids(refs []deviceRef) sets.Set[structured.DeviceID] {
	out := sets.New[structured.DeviceID]()
	for _, one := range refs {
		out.Insert(structured.MakeDeviceID(one.Driver, one.Pool, one.Device))
	}
	return out
}

// All devices but these.
func others(slices []*resource.ResourceSlice, refs []deviceRef) sets.Set[structured.DeviceID] {
	out := sets.New[structured.DeviceID]()
	for _, slice := range slices {
		for _, device := range slice.Spec.Devices {
			out.Insert(structured.MakeDeviceID(slice.Spec.Driver, slice.Spec.Pool.Name, device.Name))
		}
	}
	return out.Difference(ids(refs))
}

func judgeNode(ctx context.Context, c *deviceCase, node string) deviceAnswer {
	var out deviceAnswer
	q := question{slices: c.Slices, classes: c.Classes, claims: c.Claims, node: node}
	_, out.Empty = q.ask(ctx)
	out.Now = out.Empty
	if len(c.Taken) > 0 && out.Empty == "" {
		q.taken = ids(c.Taken)
		_, out.Now = q.ask(ctx)
	}
	ours, isGiven := c.Ours[node]
	if !isGiven {
		return out
	}
	if c.Later != nil {
		q.slices = c.Later
	}
	if ours.Statuses == nil {
		q.taken = others(q.slices, ours.Given)
		_, out.Given = q.ask(ctx)
	} else {
		q.taken = ids(c.Taken)
		out.Forbidden, out.Preferred = checkPlacement(ctx, q, ours)
	}
	return out
}

func deviceVerdicts(ctx context.Context, line []byte) any {
	var c deviceCase
	must(0, json.Unmarshal(line, &c))
	out := map[string]deviceAnswer{}
	for _, node := range c.Nodes {
		out[node] = judgeNode(ctx, &c, node)
	}
	return out
}
