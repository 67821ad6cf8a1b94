// SPDX-License-Identifier: GPL-2.0-or-later
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	resource "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"
)

// Whether kube-scheduler could have written what we write. Its allocator is asked once more, and
// each request may only have the devices that we gave it. It must then find exactly our allocation.
//
// Each device gets an attribute for each request that has it from us, and each request a selector
// for its attribute. A request for all devices gets none, because it would then ask for fewer; and
// only for such a request there are the devices that we did not give.

const markDomain = "oracle.example.com"

func mark(claim, request int) string { return fmt.Sprintf("c%dr%d", claim, request) }

// "r" for "r/a"
func whole(request string) string {
	name, _, _ := strings.Cut(request, "/")
	return name
}

// By device, the marks of the requests that have it.
func marksOf(claims []*resource.ResourceClaim, ours placement) map[deviceRef][]string {
	out := map[deviceRef][]string{}
	for i, claim := range claims {
		for r, request := range claim.Spec.Devices.Requests {
			for _, result := range ours.Statuses[i].Allocation.Devices.Results {
				if whole(result.Request) == request.Name {
					id := deviceRef{result.Driver, result.Pool, result.Device}
					out[id] = append(out[id], mark(i, r))
				}
			}
		}
	}
	return out
}

func marked(all []*resource.ResourceSlice, marks map[deviceRef][]string) []*resource.ResourceSlice {
	var out []*resource.ResourceSlice
	for _, slice := range all {
		slice = slice.DeepCopy()
		for i := range slice.Spec.Devices {
			device := &slice.Spec.Devices[i]
			for _, name := range marks[deviceRef{slice.Spec.Driver, slice.Spec.Pool.Name, device.Name}] {
				if device.Attributes == nil {
					device.Attributes = map[resource.QualifiedName]resource.DeviceAttribute{}
				}
				device.Attributes[resource.QualifiedName(markDomain+"/"+name)] =
					resource.DeviceAttribute{BoolValue: ptr.To(true)}
			}
		}
		out = append(out, slice)
	}
	return out
}

func asksForAll(claim *resource.ResourceClaim) bool {
	return slices.ContainsFunc(claim.Spec.Devices.Requests, func(one resource.DeviceRequest) bool {
		isAll := func(sub resource.DeviceSubRequest) bool {
			return sub.AllocationMode == resource.DeviceAllocationModeAll
		}
		return slices.ContainsFunc(one.FirstAvailable, isAll) ||
			one.Exactly != nil && one.Exactly.AllocationMode == resource.DeviceAllocationModeAll
	})
}

// Without the devices that we gave to nothing.
func onlyGiven(all []*resource.ResourceSlice, marks map[deviceRef][]string) []*resource.ResourceSlice {
	var out []*resource.ResourceSlice
	for _, slice := range all {
		slice = slice.DeepCopy()
		slice.Spec.Devices = slices.DeleteFunc(slice.Spec.Devices, func(one resource.Device) bool {
			return marks[deviceRef{slice.Spec.Driver, slice.Spec.Pool.Name, one.Name}] == nil
		})
		out = append(out, slice)
	}
	return out
}

func pinned(selectors []resource.DeviceSelector, mode resource.DeviceAllocationMode, name string) []resource.DeviceSelector {
	if mode == resource.DeviceAllocationModeAll {
		return selectors
	}
	text := fmt.Sprintf("device.attributes[%q].?%s.orValue(false)", markDomain, name)
	return append(selectors, resource.DeviceSelector{CEL: &resource.CELDeviceSelector{Expression: text}})
}

// A request that got nothing from us; empty: all got something.
func unserved(claims []*resource.ResourceClaim, ours placement) string {
	for i, claim := range claims {
		served := []string{}
		for _, name := range requestNames(ours.Statuses[i].Allocation.Devices.Results) {
			served = append(served, whole(name))
		}
		for _, request := range claim.Spec.Devices.Requests {
			if !slices.Contains(served, request.Name) {
				return request.Name
			}
		}
	}
	return ""
}

// The claims with pinned requests, of whose alternatives only that is left which we took.
func pinnedClaims(claims []*resource.ResourceClaim, ours placement) []*resource.ResourceClaim {
	var out []*resource.ResourceClaim
	for i, claim := range claims {
		claim = claim.DeepCopy()
		names := requestNames(ours.Statuses[i].Allocation.Devices.Results)
		for r := range claim.Spec.Devices.Requests {
			request := &claim.Spec.Devices.Requests[r]
			if exactly := request.Exactly; exactly != nil {
				exactly.Selectors = pinned(exactly.Selectors, exactly.AllocationMode, mark(i, r))
				continue
			}
			request.FirstAvailable = slices.DeleteFunc(request.FirstAvailable,
				func(one resource.DeviceSubRequest) bool {
					return !slices.Contains(names, request.Name+"/"+one.Name)
				})
			for s := range request.FirstAvailable {
				one := &request.FirstAvailable[s]
				one.Selectors = pinned(one.Selectors, one.AllocationMode, mark(i, r))
			}
		}
		out = append(out, claim)
	}
	return out
}

// In order, each once.
func requestNames(results []resource.DeviceRequestAllocationResult) []string {
	var out []string
	for _, one := range results {
		out = append(out, one.Request)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// As texts that can be compared: the devices in some order; a configuration for all requests names
// none.
func asTexts(allocation *resource.AllocationResult) (string, string) {
	var devices []string
	for _, one := range allocation.Devices.Results {
		devices = append(devices, string(must(json.Marshal(one))))
	}
	slices.Sort(devices)
	names := requestNames(allocation.Devices.Results)
	configs := slices.Clone(allocation.Devices.Config)
	for i := range configs {
		isForAll := !slices.ContainsFunc(names, func(name string) bool {
			return !slices.Contains(configs[i].Requests, name) &&
				!slices.Contains(configs[i].Requests, whole(name))
		})
		if isForAll {
			configs[i].Requests = nil
		}
	}
	return strings.Join(devices, " "),
		string(must(json.Marshal(configs))) + string(must(json.Marshal(allocation.NodeSelector)))
}

// The alternatives that kube-scheduler takes, if the first that differs from ours comes before it;
// empty: ours are as good.
func preferredTo(claims []*resource.ResourceClaim, ours placement, theirs []resource.AllocationResult) string {
	for i, claim := range claims {
		our := requestNames(ours.Statuses[i].Allocation.Devices.Results)
		their := requestNames(theirs[i].Devices.Results)
		for _, request := range claim.Spec.Devices.Requests {
			for _, one := range request.FirstAvailable {
				name := request.Name + "/" + one.Name
				if slices.Contains(our, name) != slices.Contains(their, name) {
					if slices.Contains(their, name) {
						return strings.Join(their, " ")
					}
					return ""
				}
			}
		}
	}
	return ""
}

// The devices that the claims take from others.
func takenBy(statuses []resource.ResourceClaimStatus) []deviceRef {
	var out []deviceRef
	for _, status := range statuses {
		for _, one := range status.Allocation.Devices.Results {
			if !ptr.Deref(one.AdminAccess, false) {
				out = append(out, deviceRef{one.Driver, one.Pool, one.Device})
			}
		}
	}
	return out
}

// Why kube-scheduler could not have written this for one claim, when the others have theirs. So
// the order of the claims does not matter: a request with adminAccess may share a device with
// another claim of the pod, but the allocator finds that only if the other claim comes first.
func checkClaim(ctx context.Context, q question, ours placement, i int) string {
	rest := slices.Delete(slices.Clone(ours.Statuses), i, i+1)
	q.claims, q.taken = q.claims[i:i+1], q.taken.Union(ids(takenBy(rest)))
	theirs, why := q.ask(ctx)
	if why != "" {
		return why
	}
	devices, more := asTexts(&theirs[0])
	ourDevices, ourMore := asTexts(ours.Statuses[i].Allocation)
	if devices != ourDevices {
		return "Kubernetes gives " + devices + ", we " + ourDevices
	}
	if more != ourMore {
		return "Kubernetes adds " + more + ", we " + ourMore
	}
	return ""
}

// Why kube-scheduler could not have written this; and the alternatives that it would have taken if
// it had no other devices.
func checkPlacement(ctx context.Context, q question, ours placement) (string, string) {
	if name := unserved(q.claims, ours); name != "" {
		return "we give no device to request " + name, ""
	}
	free := q
	free.taken = others(q.slices, takenBy(ours.Statuses))
	preferred := ""
	if theirs, why := free.ask(ctx); why == "" {
		preferred = preferredTo(q.claims, ours, theirs)
	}
	marks := marksOf(q.claims, ours)
	q.slices, q.claims = marked(q.slices, marks), pinnedClaims(q.claims, ours)
	for i := range q.claims {
		q := q
		if !asksForAll(q.claims[i]) {
			q.slices = onlyGiven(q.slices, marks)
		}
		if why := checkClaim(ctx, q, ours, i); why != "" {
			return why, preferred
		}
	}
	return "", preferred
}
