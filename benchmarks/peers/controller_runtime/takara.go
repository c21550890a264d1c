package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The Takara API, with the DeepCopy functions that controller-gen would generate.

type Takara struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TakaraSpec   `json:"spec"`
	Status TakaraStatus `json:"status,omitempty"`
}

type TakaraSpec struct {
	Size int32 `json:"size"`
}

type TakaraStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Nodes              []string           `json:"nodes"`
	Replicas           int32              `json:"replicas"`
	ReadyReplicas      int32              `json:"readyReplicas"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type TakaraList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Takara `json:"items"`
}

func (in *TakaraStatus) DeepCopy() *TakaraStatus {
	out := *in
	out.Nodes = append([]string(nil), in.Nodes...)
	out.Conditions = append([]metav1.Condition(nil), in.Conditions...)
	return &out
}

func (in *Takara) DeepCopyObject() runtime.Object {
	out := &Takara{TypeMeta: in.TypeMeta, Spec: in.Spec, Status: *in.Status.DeepCopy()}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}

func (in *TakaraList) DeepCopyObject() runtime.Object {
	out := &TakaraList{TypeMeta: in.TypeMeta, Items: make([]Takara, 0, len(in.Items))}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopyObject().(*Takara))
	}
	return out
}

func addToScheme(scheme *runtime.Scheme) {
	version := schema.GroupVersion{Group: "maho.takara.org", Version: "v1alpha1"}
	scheme.AddKnownTypes(version, &Takara{}, &TakaraList{})
	metav1.AddToGroupVersion(scheme, version)
}
